import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, readPages } from "./pages.ts";

const text = await readFile(join(ROOT, "docs/llms.txt"), "utf8");
const targets = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => join("docs", target));

test("docs/llms.txt lists every page once", async () => {
  const paths = (await readPages()).map(({ path }) => path);
  expect(targets.toSorted()).toEqual(paths.toSorted());
});

test("docs/llms.txt is what scripts/llms.mjs writes", async () => {
  const { llmsText } = (await import("../../scripts/llms.mjs" as string)) as { llmsText(): string };
  expect(text, "Run node scripts/llms.mjs").toBe(llmsText());
});
