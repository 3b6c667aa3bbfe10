import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

test("the tables of the scale model in bench/README.md are what bench/scale.mjs calculates", async () => {
  const root = new URL("../../bench/", import.meta.url);
  const model: { millionTable(): string; monthTable(): string } = await import(
    /* @vite-ignore */ new URL("scale.mjs", root).href
  );
  const page = await readFile(new URL("README.md", root), "utf8");
  const written = (part: string) => {
    const begin = `<!-- bench/scale.mjs (${part}) writes from here -->`;
    return page.split(begin)[1]?.split("<!-- to here -->")[0]?.trim();
  };
  expect(written("million")).toBe(model.millionTable());
  expect(written("month")).toBe(model.monthTable());
});
