import { parseArgs } from "node:util";

/** @typedef {"full" | "quick" | "smoke"} Mode `smoke` only checks the answers. */

/**
 * The amount of measurements.
 * @typedef {object} Settings
 * @property {Mode} mode
 * @property {number} rounds Times that each contestant has its turn.
 * @property {string | null} only Name of the one row to run.
 */

const ROUNDS = { full: 7, quick: 3, smoke: 1 };

/**
 * Parses the command line. Throws a TypeError for an unknown argument.
 * @param {string[]} args
 * @param {readonly string[]} rowNames
 * @returns {Settings}
 */
export function readSettings(args, rowNames) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      smoke: { type: "boolean", default: false },
      only: { type: "string" },
    },
  });
  if (values.only !== undefined && !rowNames.includes(values.only)) {
    throw new TypeError(`--only takes one of ${rowNames.join(", ")}`);
  }
  const mode = values.smoke ? "smoke" : values.quick ? "quick" : "full";
  return { mode, rounds: ROUNDS[mode], only: values.only ?? null };
}
