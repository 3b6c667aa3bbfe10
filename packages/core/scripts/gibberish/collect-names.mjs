// Writes names-trained.txt and names-held-out.txt, which have no name in common:
// `node collect-names.mjs FOLDER`, with FOLDER an unpacked @faker-js/faker 9.9.0 (MIT).
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import anyAscii from "any-ascii";

const NAMES_OF_A_KIND = 70;
/** Written without vowels, or in characters that any-ascii reads in another language: romanised by hand instead. */
const ROMANISED_BY_HAND = new Set(["ar", "dv", "fa", "he", "ja", "ne", "th", "ur"]);

const folder = process.argv[2];
const { allLocales } = await import(pathToFileURL(`${folder}/dist/index.js`).href);

const lines = [];
for (const [locale, { person }] of Object.entries(allLocales)) {
  if (ROMANISED_BY_HAND.has(locale)) {
    continue;
  }
  for (const kind of ["first", "last"]) {
    const names = spread(lettersOf(person?.[`${kind}_name`]));
    if (names.length > 0) {
      lines.push(`${locale} ${kind} ${names.join(" ")}`);
    }
  }
}
for (const line of readFileSync(new URL("romanised.txt", import.meta.url), "utf8").split("\n")) {
  if (line !== "" && !line.startsWith("#")) {
    lines.push(line);
  }
}
writeHalf("names-trained.txt", (name) => !isHeldOut(name));
writeHalf("names-held-out.txt", isHeldOut);

function writeHalf(file, isOfThis) {
  const licence = readFileSync(`${folder}/LICENSE`, "utf8").split("\n");
  const half = lines.map((line) => {
    const [language, kind, ...names] = line.split(" ");
    return [language, kind, ...names.filter(isOfThis)].join(" ");
  });
  const header = [
    "Names as they stand in addresses: language, first or last, names. Made by collect-names.mjs; those of most",
    "languages are of @faker-js/faker 9.9.0, whose licence is:",
    ...licence,
  ];
  const text = [...header.map((line) => `# ${line}`.trimEnd()), ...half, ""].join("\n");
  writeFileSync(new URL(file, import.meta.url), text);
}

/** By the name alone, so that one of many languages is in one half only: a bit of its FNV-1a hash. */
function isHeldOut(name) {
  let hash = 0x811c9dc5;
  for (const letter of name) {
    hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0;
  }
  return ((hash >>> 8) & 1) === 1;
}

/** All names of a kind, of all sexes, in the letters of addresses. */
function lettersOf(bySex) {
  const all = Object.values(bySex ?? {}).flat();
  const plain = all.map((name) =>
    anyAscii(name)
      .toLowerCase()
      .replace(/[^a-z]/g, ""),
  );
  return [...new Set(plain)].filter((name) => name.length > 1).sort();
}

/** At most so many, evenly spread over the alphabet. */
function spread(names) {
  const step = Math.max(1, names.length / NAMES_OF_A_KIND);
  const taken = [];
  for (let index = 0; index < names.length; index += step) {
    taken.push(names[Math.floor(index)]);
  }
  return taken;
}
