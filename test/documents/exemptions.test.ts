import { expect, test } from "vitest";
import { placeOf, readPages } from "./pages.ts";

const MAX_EXEMPTIONS = 20;
const pages = await readPages();
const exempt = pages.flatMap(({ blocks }) => blocks.filter((block) => block.exempt !== null));

test(`at most ${MAX_EXEMPTIONS} blocks of the guides are neither compiled nor run`, () => {
  expect(exempt.length, exempt.map(placeOf).join("\n")).toBeLessThanOrEqual(MAX_EXEMPTIONS);
});

test("every exempt block has a reason", () => {
  expect(exempt.filter((block) => (block.exempt ?? "").length < 10).map(placeOf)).toEqual([]);
});

test("every comment of these tests stands directly above a block", () => {
  const comments = pages.flatMap(({ text }) => text.match(/^\s*<!-- (?:given|not run|exit)\b/gm) ?? []);
  const read = pages.flatMap(({ blocks }) =>
    blocks.flatMap(({ given, exempt, exit }) => [given, exempt, exit === 0 ? null : exit]),
  );
  expect(comments).toHaveLength(read.filter((value) => value !== null).length);
});
