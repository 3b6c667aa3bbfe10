import { test } from "vitest";
import { BLANK_KINDS } from "./blank-kinds.ts";
import { AIMS, expectAims, expectOwn } from "./expect-aims.ts";
import { FURTHER_KINDS } from "./further/further-kinds.ts";
import { FURTHER_LANGUAGES } from "./further/languages.ts";
import { generatedSites } from "./sites.ts";

const fewSites = [...generatedSites(4711, 60)];
const sites = [...generatedSites(20261126, 300)];
/** Of kinds of pages that the extractor was not written for. */
const furtherSites = [...generatedSites(20261127, 300, FURTHER_KINDS)];
/** All addresses are found; some layouts do not give all fields. */
const FURTHER_AIMS = { ...AIMS, names: 0.93, positions: 0.92, phones: 0.94 };

test("the extractor of the page index reaches its aims on 60 generated sites, and gives none of their obfuscated addresses", () => {
  expectAims(fewSites);
});

test("the extractor of the page index reaches its aims on 300 generated sites, and gives none of their obfuscated addresses", () => {
  expectAims(sites);
});

test("of 300 sites in whose lines blanks alone separate the parts, no address has data of another one", () => {
  const languages = [...BLANK_KINDS.languages, ...FURTHER_LANGUAGES];
  expectOwn([...generatedSites(20261128, 300, { ...BLANK_KINDS, languages })]);
});

test("the extractor finds the addresses of 300 sites of other kinds, and most of the people", () => {
  expectAims(furtherSites, FURTHER_AIMS);
});
