// Writes docs/options.md: all options of the packages' public functions, from their types. With --check it writes
// nothing, and exits with 1 if the page is out of date. Arguments name other pages.
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readOptions } from "./read-options.mjs";

/** @import { Factory, Option, OptionSet } from "./read-options.mjs" */

const { values, positionals } = parseArgs({
  options: { check: { type: "boolean" } },
  allowPositionals: true,
});
const pages =
  positionals.length > 0 ? positionals : [fileURLToPath(new URL("../docs/options.md", import.meta.url))];
const COMMAND = "node scripts/options-reference.mjs";

/** Packages in the order of the page, each with its purpose. */
const CHAPTERS = [
  ["@outrigger/core", "The services, and stores within a process or on its disk"],
  ["@outrigger/express", "Mounting in Express"],
  ["@outrigger/koa", "Mounting in Koa"],
  ["@outrigger/fetch", "Mounting in hosts of web-standard requests"],
  ["@outrigger/node", "Serving without a framework"],
  ["@outrigger/imaging", "Pictures in other formats and sizes"],
  ["@outrigger/web", "Pages for browsers"],
  ["@outrigger/redis", "Redis: storage, limits and queues that processes share"],
  ["@outrigger/s3", "Storage in S3"],
  ["@outrigger/sql", "Image records in PostgreSQL, the lookup's data in SQLite or PostgreSQL"],
  ["@outrigger/page-index", "Contacts from pages"],
  ["@outrigger/verifier", "Asking the DNS and mail servers"],
  ["@outrigger/ops", "Copying and verifying a storage"],
  ["@outrigger/telemetry", "Metrics and traces"],
  ["@outrigger/client", "Clients for programs and browsers"],
  ["outrigger", "The whole service as one process"],
];

/** Defaults that say no more than the absence of the option. */
const NOTHING =
  /^(?:false|none|nothing|never|ignored|not (?:called|stored|sent)|nothing is logged|no limits?|the defaults of `\w+`)$/;

const { factories, sets } = readOptions();
const faults = [...sets.values()].flatMap((set) => set.faults);
const written = pageOf(factories, sets);
if (faults.length > 0)
  fail(`The JSDoc of options is not complete:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
for (const page of pages) {
  if (!values.check) writeFileSync(page, written);
  else if (readOr(page) !== written)
    fail(`${relative(process.cwd(), page)} is not what the types say: run ${COMMAND}`);
}

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

function readOr(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/**
 * @param {Factory[]} factories
 * @param {Map<string, OptionSet>} sets
 */
function pageOf(factories, sets) {
  const chapters = CHAPTERS.map(([name, title]) => {
    const own = factories.filter(({ from }) => packageOf(from) === name);
    return { name, title, withOptions: own.filter(({ sets }) => sets.length > 0) };
  }).filter(({ withOptions }) => withOptions.length > 0);
  const known = new Set(CHAPTERS.map(([name]) => name));
  const stray = factories.find(({ from }) => !known.has(packageOf(from)));
  if (stray !== undefined) throw new Error(`${stray.from} has no chapter: add it to CHAPTERS`);
  // If several functions share options, or options share parts, these appear at their first use.
  const shown = new Set();
  const body = chapters.map((chapter) => chapterOf(chapter, sets, shown));
  return `${[
    "# Options",
    `The options of each public function. The pages on [mounting](mounting.md), [storage](storage.md), [operating](operating.md) and the [lookup](lookup.md) explain them. \`${COMMAND}\` generates this page.`,
    'Where the type of a time or a size is `number | string`, text with a unit is accepted too: `"30s"`, `"10m"`, `"12h"`, `"30d"`, `"2w"`; `"500kB"`, `"25MB"`, `"1.5GiB"` (1 MB is 1,000,000 bytes, 1 MiB 1,048,576). Digits alone count in the unit of the option. So does the configuration of the command.',
    "Options that are not _required_ may be left out or `undefined`. Their default stands in brackets or at the end; without one, they are then off. Ranges are of integers, unless they have a fraction. An unknown name, a wrong type, and a value out of range throw a `TypeError` that names the option and shows no secret, before anything is opened.",
    contentsOf(chapters),
    ...body,
  ].join("\n\n")}\n`;
}

/** The package of an entry, such as `@outrigger/core` of `@outrigger/core/images`. */
function packageOf(entry) {
  return entry
    .split("/")
    .slice(0, entry.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Links to the functions with options. */
function contentsOf(chapters) {
  const functions = chapters.flatMap(({ withOptions }) => withOptions.map(({ name }) => name));
  return `${functions.map((name) => `[${name}](#${anchor(name)})`).join(", ")}.`;
}

function chapterOf({ name, title, withOptions }, sets, shown) {
  return [
    `## ${title}: ${name}`,
    ...withOptions.flatMap((factory) => [
      `### ${factory.name}`,
      `\`${factory.signature}\`${factory.from === name ? "" : ` from \`${factory.from}\``}: ${factory.text}`,
      ...joined(factory.sets.flatMap((set) => setOf(set, sets, shown, false))),
    ]),
  ].join("\n\n");
}

/** Paragraphs in which references that follow each other are one. @param {string[]} paragraphs */
function joined(paragraphs) {
  const text = paragraphs.join("\n\n");
  return text.replaceAll(/(?<=\n\nOptions: \[[^\n]*)\.\n\nOptions: /g, ", ").split("\n\n");
}

/** The options, then the options that are parts of them. */
function setOf(name, sets, shown, isPart) {
  const set = sets.get(name);
  if (set === undefined) throw new Error(`There is no ${name}`);
  if (shown.has(name)) return isPart ? [] : [`Options: [${name}](#${anchor(name)}).`];
  shown.add(name);
  const isShared = ({ home }) => home !== null && home !== name && sets.has(home);
  const own = set.options.filter((option) => !isShared(option));
  const lines = [...own.filter((option) => option.isRequired), ...own.filter((option) => !option.isRequired)];
  return [
    `#### ${name}`,
    ...(set.text === "" ? [] : [set.text]),
    ...(lines.length === 0 ? [] : [lines.map(lineOf).join("\n")]),
    ...sharedWith(set.options.filter(isShared)),
    ...set.options.flatMap(({ parts }) => parts.flatMap((part) => setOf(part, sets, shown, true))),
  ];
}

/** One paragraph for each interface that declares some of these options. @param {Option[]} options */
function sharedWith(options) {
  const homes = [...new Set(options.map(({ home }) => home))];
  return homes.map((home) => {
    const names = options.filter((option) => option.home === home).map(({ name }) => `\`${name}\``);
    return `As in [${home}](#${anchor(home)}): ${names.join(", ")}.`;
  });
}

/** @param {Option} option */
function lineOf({ name, type, isRequired, preset, text, parts }) {
  const [part = "", ...others] = parts;
  const shown = part !== "" && others.length === 0 ? `[\`${type}\`](#${anchor(part)})` : `\`${type}\``;
  const head = `- **\`${name}\`** ${shown}${isRequired ? " _required_" : ""}`;
  const more =
    others.length === 0 ? "" : ` See ${parts.map((each) => `[${each}](#${anchor(each)})`).join(", ")}.`;
  const value = isRequired || NOTHING.test(preset ?? "") ? "" : presetOf(preset ?? "");
  // A single value stands beside the type.
  const isPlain = /^`[^` ]+`$/.test(value);
  const end = value === "" || isPlain ? "" : ` _Default:_ ${value}.`;
  return `${head}${isPlain ? ` (${value})` : ""}: ${sentence(text)}${more}${end}`;
}

function sentence(text) {
  return /[.:)]$/.test(text) ? text : `${text}.`;
}

/** Formats a value as code, and words as words. */
function presetOf(preset) {
  const [, value = "", rest = ""] =
    /^("[^"]*"|`[^`]*`|-?[\d_.]+|true|false|\{[^}]*\}|[A-Za-z.]+\(\)|Date\.now)?(.*)$/s.exec(preset) ?? [];
  const code = value === "" || value.startsWith("`") ? value : `\`${value}\``;
  return `${code}${rest}`.replace(/\.$/, "");
}

/** The anchor that GitHub generates for a heading. */
function anchor(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
