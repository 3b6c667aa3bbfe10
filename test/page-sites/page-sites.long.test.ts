import { test } from "vitest";
import { BLANK_KINDS } from "./blank-kinds.ts";
import { expectAims, expectOwn } from "./expect-aims.ts";
import { generatedSites } from "./sites.ts";

test("the extractor of the page index reaches its aims on 300 generated sites", () => {
  expectAims([...generatedSites(20261126, 300)]);
});

test("of 300 sites in whose lines blanks alone separate the parts, no address has data of another one", () => {
  expectOwn([...generatedSites(20261128, 300, BLANK_KINDS)]);
});
