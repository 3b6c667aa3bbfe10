import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isGibberish } from "./is-gibberish.ts";
import { ROLE_NAMES } from "./role-names.ts";

const SCRIPTS = new URL("../../../scripts/gibberish/", import.meta.url);
const ALPHABET = "abcdefghijklmnopqrstuvwxyz";
const KEY_ROWS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/** First and last names of each language that was not used to train the table of letter pairs. */
function heldOutNames(): { first: string[]; last: string[] }[] {
  const byLanguage = new Map<string, { first: string[]; last: string[] }>();
  for (const line of readFileSync(new URL("names-held-out.txt", SCRIPTS), "utf8").split("\n")) {
    const [language = "", kind, ...names] = line.split(" ");
    if ((kind === "first" || kind === "last") && !line.startsWith("#")) {
      const known = byLanguage.get(language) ?? { first: [], last: [] };
      byLanguage.set(language, { ...known, [kind]: names });
    }
  }
  return [...byLanguage.values()].filter(({ first, last }) => first.length > 0 && last.length > 0);
}

/** Addresses in common styles, made of each first name and some last name: one list per language. */
function heldOutLocals(): string[][] {
  return heldOutNames().map(({ first, last }) =>
    Array.from({ length: Math.max(first.length, last.length) }, (_, index) => {
      const f = first[index % first.length] ?? "";
      const l = last[index % last.length] ?? "";
      return [`${f}.${l}`, `${f.charAt(0)}${l}`, `${f}${l}`, `${l}${f.charAt(0)}`, f, l, `${l}.${f}`];
    }).flat(),
  );
}

/** Texts of 8 to 13 letters, the same in every run. */
function mash(next: (random: () => number, before: string) => string): string[] {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
  return Array.from({ length: 2000 }, () => {
    const length = 8 + Math.floor(6 * random());
    let text = "";
    while (text.length < length) {
      text += next(random, text);
    }
    return text;
  });
}

function pick(random: () => number, from: string): string {
  return from.charAt(Math.floor(random() * from.length));
}

function neighbours(key: string): string {
  const row = KEY_ROWS.findIndex((keys) => keys.includes(key));
  const column = KEY_ROWS[row]?.indexOf(key) ?? 0;
  const near = KEY_ROWS.slice(Math.max(0, row - 1), row + 2).map((keys) =>
    keys.slice(Math.max(0, column - 1), column + 2),
  );
  return near.join("").replace(key, "");
}

function shareOfGibberish(locals: readonly string[]): number {
  return locals.filter(isGibberish).length / locals.length;
}

test("isGibberish knows keystrokes, runs and hexadecimal numbers", () => {
  const gibberish = "xkqjzvbn asdkjhqwe1 XKQJZVBN qwertyuiop asdfgh a8f3e9c1 3f2504e04f8911d39a0c aaaaaaa";
  expect(gibberish.split(" ").filter((local) => !isGibberish(local))).toEqual([]);
});

test("isGibberish takes no name for gibberish", () => {
  const names =
    "jd hpwn jvdberg hpschmidt jsmith42 mkhitaryan wojciechowski szczepanski ng nguyen.thi.phuong schwarzkopf " +
    "tchaikovsky hrvoje.crnkovic krzysztof.nowak bjork.gudmundsdottir b2b w3c john.1990.12.31 John.Smith.III " +
    "jürgen.müller юлия.щербакова";
  expect(["", ...names.split(" ")].filter(isGibberish)).toEqual([]);
});

test("the table of letter pairs equals the script's output for its half of the names", async () => {
  const script = fileURLToPath(new URL("train-letter-pairs.mjs", SCRIPTS));
  await promisify(execFile)(process.execPath, [script, "--check"]);
});

describe("isGibberish, on lists that the table was not trained on", () => {
  test("judges fewer than 0.1 % of addresses in some 60 languages as gibberish, and at most 4 % in any language", () => {
    const locals = heldOutLocals();
    expect(locals.length).toBeGreaterThan(55);
    expect(locals.flat().length).toBeGreaterThan(10_000);
    expect(shareOfGibberish(locals.flat())).toBeLessThan(0.001);
    expect(Math.max(...locals.map(shareOfGibberish))).toBeLessThan(0.04);
  });

  test("judges no role name as gibberish", () => {
    expect([...ROLE_NAMES].filter(isGibberish)).toEqual([]);
  });

  test("judges most random keystrokes as gibberish", () => {
    expect(shareOfGibberish(mash((random) => pick(random, ALPHABET)))).toBeGreaterThan(0.84);
    const walk = mash((random, before) =>
      pick(random, before === "" ? ALPHABET : neighbours(before.charAt(before.length - 1))),
    );
    expect(shareOfGibberish(walk)).toBeGreaterThan(0.77);
    expect(shareOfGibberish(mash((random) => pick(random, "asdfghjkl")))).toBeGreaterThan(0.88);
  });
});

test("isGibberish answers for any text, and ignores case", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 70 }), (local) => {
      expect(typeof isGibberish(local)).toBe("boolean");
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 70 }), (local) => {
      expect(isGibberish(local.toUpperCase())).toBe(isGibberish(local));
    }),
  );
});
