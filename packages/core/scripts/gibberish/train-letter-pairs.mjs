// Writes letter-pairs.ts from names-trained.txt; with --check only tells by its exit code whether that is what stands there.
import { readFileSync, writeFileSync } from "node:fs";

const A = "a".charCodeAt(0);
/** Added to each count, so that a pair which no name of the list has is rare, not impossible. */
const UNSEEN = 0.3;
const QUARTER_BITS = 4;
/** The last digit of base 36. */
const MAX_DIGIT = 35;

const target = new URL("../../src/lookup/address/letter-pairs.ts", import.meta.url);
const text = moduleOf(rarityRows());

if (!process.argv.includes("--check")) {
  writeFileSync(target, text);
} else if (readFileSync(target, "utf8") !== text) {
  process.stderr.write("letter-pairs.ts is not what train-letter-pairs.mjs makes of names-trained.txt\n");
  process.exitCode = 1;
}

/** For each letter, how rare each next one is. */
function rarityRows() {
  const counts = Array.from({ length: 26 }, () => new Array(26).fill(UNSEEN));
  for (const name of trainedNames()) {
    for (let index = 1; index < name.length; index += 1) {
      counts[name.charCodeAt(index - 1) - A][name.charCodeAt(index) - A] += 1;
    }
  }
  return counts.map((row) => {
    const sum = row.reduce((left, right) => left + right);
    return row.map((count) => digit(-Math.log2(count / sum))).join("");
  });
}

function trainedNames() {
  const lines = readFileSync(new URL("names-trained.txt", import.meta.url), "utf8").split("\n");
  const names = lines.filter((line) => !line.startsWith("#")).flatMap((line) => line.split(" ").slice(2));
  return new Set(names);
}

function digit(bits) {
  return Math.min(MAX_DIGIT, Math.round(bits * QUARTER_BITS)).toString(36);
}

function moduleOf(rows) {
  return [
    "/**",
    " * How surprising a letter is after another one, in names of many languages. One row per letter from a to z;",
    " * in it, one base-36 digit per next letter, in quarters of a bit. Created by",
    " * scripts/gibberish/train-letter-pairs.mjs.",
    " */",
    "export const LETTER_PAIRS: readonly string[] = [",
    ...rows.map((row) => `  "${row}",`),
    "];",
    "",
  ].join("\n");
}
