import { readFile, writeFile } from "node:fs/promises";

/**
 * A number that the model reads, with its origin.
 * @typedef {object} Input
 * @property {number | number[] | number[][] | Record<string, number>} value
 * @property {string} unit
 * @property {"measured" | "published" | "price" | "chosen"} kind `chosen`: for the reader to replace; its source says why.
 * @property {string} source
 * @property {string} date On which it was measured, read or chosen: YYYY-MM-DD.
 */

/** @typedef {Record<string, Input>} InputTable */

/**
 * @typedef {object} Inputs
 * @property {(name: string) => number} number
 * @property {(name: string) => number[]} numbers
 * @property {(name: string) => number[][]} pairs
 * @property {(name: string) => Record<string, number>} counts
 * @property {() => number} readsPerImage Per second, at the CDN.
 * @property {() => ReadonlySet<string>} used The names that were asked for.
 */

export const INPUTS_FILE = new URL("inputs.json", import.meta.url);
export const DAY_SECONDS = 86_400;
/** As the prices count. */
export const MONTH_SECONDS = 30 * DAY_SECONDS;

/** @returns {Promise<InputTable>} */
export async function readInputs() {
  return JSON.parse(await readFile(INPUTS_FILE, "utf8"));
}

/**
 * Stores measured values. Other inputs stay as they are.
 * @param {Record<string, Pick<Input, "value" | "unit">>} measured
 * @param {string} source
 */
export async function writeMeasured(measured, source) {
  const table = await readInputs();
  const date = new Date().toISOString().slice(0, 10);
  for (const [name, { value, unit }] of Object.entries(measured)) {
    table[name] = { value, unit, kind: "measured", source, date };
  }
  // Short lists on one line, as the formatter has them.
  const text = JSON.stringify(table, null, 2).replace(/\[[^[\]{}]*\]/g, (list) =>
    list.replace(/\s+/g, " ").replace("[ ", "[").replace(" ]", "]"),
  );
  await writeFile(INPUTS_FILE, `${text}\n`);
}

/**
 * Access to inputs, which throws for a name that is missing: a row without a source is an error.
 * @param {InputTable} table
 * @returns {Inputs}
 */
export function createInputs(table) {
  /** @type {Set<string>} */
  const used = new Set();
  /** @param {string} name */
  function find(name) {
    const input = table[name];
    if (input === undefined) throw new Error(`inputs.json has no ${name}`);
    used.add(name);
    return input.value;
  }
  /** @type {Inputs} */
  const inputs = {
    number(name) {
      const value = find(name);
      if (typeof value !== "number") throw new TypeError(`${name} is no number`);
      return value;
    },
    numbers: (name) => /** @type {number[]} */ (find(name)), // As the file has it.
    pairs: (name) => /** @type {number[][]} */ (find(name)), // The same.
    counts: (name) => /** @type {Record<string, number>} */ (find(name)), // The same.
    readsPerImage() {
      const ofBrowsers = inputs.number("facebook.requests") / inputs.number("facebook.photos");
      return (ofBrowsers * (1 - inputs.number("facebook.browserShare"))) / MONTH_SECONDS;
    },
    used: () => used,
  };
  return inputs;
}
