import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ROOT } from "../documents/pages.ts";
import type { Check } from "./flow.ts";

/** What the table of docs/mounting.md says of a host beside its versions. */
export interface HostRow {
  /** The first cell. */
  host: string;
  /** The package that mounts Outrigger there. */
  adapter: string;
  /** Checks that fail there. @default none */
  failing?: readonly string[];
}

export interface HostOutcome extends HostRow {
  /** Such as `fastify 5.12.8`. */
  versions: string;
  checks: readonly Check[];
}

const PAGE = join(ROOT, "docs/mounting.md");
const HEAD = ["host", "versions tested", "package"];
/** `OUTRIGGER_WRITE_DOCS=1 npx vitest run test/published` writes the table. */
const WRITES = process.env.OUTRIGGER_WRITE_DOCS === "1";

/** Expects that the table of docs/mounting.md has these rows in this order, and that only the known checks failed; or writes the rows. */
export function expectDocumented(outcomes: readonly HostOutcome[]): void {
  for (const { host, checks, failing } of outcomes) {
    const failed = checks.filter(({ failure }) => failure !== undefined);
    expect(failed.map(({ name }) => name).sort(), host).toEqual([...(failing ?? [])].sort());
  }
  const rows = outcomes.map(cellsOf);
  if (WRITES) writeRows(rows);
  const hosts = rows.map(([host]) => host);
  const documented = readTable().rows.filter(([host]) => hosts.includes(host));
  expect(documented, "run with OUTRIGGER_WRITE_DOCS=1").toEqual(rows);
}

/** The first cells of the table. */
export function documentedHosts(): string[] {
  return readTable().rows.map(([host = ""]) => host);
}

function cellsOf({ host, versions, adapter }: HostOutcome): string[] {
  return [host, versions, `\`${adapter}\``];
}

interface Table {
  before: string;
  rows: string[][];
  after: string;
}

function readTable(): Table {
  const page = readFileSync(PAGE, "utf8");
  const start = page.search(/^\| host +\|/m);
  if (start === -1) throw new Error("docs/mounting.md has no table of hosts");
  const end = page.indexOf("\n\n", start);
  const [, , ...lines] = page.slice(start, end).split("\n");
  const rows = lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return { before: page.slice(0, start), rows, after: page.slice(end) };
}

/** Replaces the rows of these hosts where the first of them stands, or at the end. */
function writeRows(written: readonly string[][]): void {
  const { before, rows, after } = readTable();
  const isWritten = ([host]: string[]) => written.some(([other]) => other === host);
  const first = rows.findIndex(isWritten);
  const at = first === -1 ? rows.length : first;
  const kept = (some: string[][]) => some.filter((row) => !isWritten(row));
  const all = [...kept(rows.slice(0, at)), ...written, ...kept(rows.slice(at))];
  const widths = HEAD.map((name, column) =>
    Math.max(...[HEAD, ...all].map((row) => (row[column] ?? "").length), name.length),
  );
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  writeFileSync(PAGE, before + [line(HEAD), rule, ...all.map(line)].join("\n") + after);
}
