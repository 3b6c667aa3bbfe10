import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

const page = await readFile(new URL("../../docs/comparison.md", import.meta.url), "utf8");

interface Row {
  section: string;
  system: string;
  source: string;
}

/** The rows of every table that has a column for sources. */
function rowsOf(): Row[] {
  return page.split(/^## /m).flatMap((part) => {
    const [section = "", ...lines] = part.split("\n");
    const cells = lines
      .filter((line) => line.startsWith("|"))
      .map((line) => line.split("|").map((cell) => cell.trim()));
    if (cells[0]?.[3] !== "source") return [];
    return cells.slice(2).map(([, system = "", , source = ""]) => ({ section, system, source }));
  });
}

const rows = rowsOf();
const show = ({ section, system, source }: Row) => `${section} ${system}: ${source}`;
const faults = (kept: readonly Row[], isRight: (row: Row) => boolean) =>
  kept.filter((row) => !isRight(row)).map(show);

test("the comparison has rows for at least six other systems", () => {
  const others = new Set(rows.map(({ system }) => system));
  expect(others.size).toBeGreaterThan(6);
  expect(rows.length).toBeGreaterThan(40);
});

test("each answer of Outrigger links to a test", () => {
  const ours = rows.filter(({ system }) => system === "Outrigger");
  expect(faults(ours, ({ source }) => /^\[test\]\(\.\.\/\S+\.test\.ts\)$/.test(source))).toEqual([]);
});

test("each answer of another system has a source, and the page has the date of reading", () => {
  const others = rows.filter(({ system }) => system !== "Outrigger");
  expect(faults(others, ({ source }) => /^\[[a-z ]+\]\(https:\/\/\S+\)$/.test(source))).toEqual([]);
  const [, read = ""] = /source, read on (\d{4}-\d\d-\d\d);/.exec(page) ?? [];
  expect(read === "" ? Number.NaN : Date.parse(read)).not.toBeNaN();
});

test("each question has an answer of Outrigger and of another system", () => {
  for (const section of new Set(rows.map((row) => row.section))) {
    const systems = rows.filter((row) => row.section === section).map(({ system }) => system);
    expect([section, systems.includes("Outrigger")]).toEqual([section, true]);
    expect([section, new Set(systems).size > 1]).toEqual([section, true]);
  }
});
