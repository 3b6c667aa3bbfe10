import type { BadLine, BadLineReason, ImportProgress } from "@outrigger/sql";
import { timeText } from "../../../cli/amounts.ts";
import type { BadLines } from "./bad-lines.ts";

const REASONS: Readonly<Record<BadLineReason, string>> = {
  columns: "it has not as many columns as the first line",
  encoding: "it is not UTF-8",
  truncated: "the file ends within it",
  json: "it is not a JSON object",
  too_long: "it is longer than a mebibyte",
  address: "it has no email address",
  value: "it has a value that cannot be",
};

/** How an import ended. */
export interface ImportEnd {
  ms: number;
  badLines: BadLines;
  json: boolean;
}

/** Says what an import did, and which lines it left out. */
export function tellImport(progress: ImportProgress, { ms, badLines, json }: ImportEnd): void {
  // Nobody may be reading any more.
  process.stdout.on("error", () => {});
  tellBadLines(progress.bad, badLines);
  const seconds = Math.max(0.001, ms / 1000);
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...progress, ms: Math.round(ms) })}\n`);
    return;
  }
  const { lines, added, updated, unchanged, suppressed, bad } = progress;
  process.stdout.write(
    `${lines} lines: ${added} addresses added, ${updated} updated, ${unchanged} unchanged, ` +
      `${suppressed} left out as suppressed, ${bad} bad lines, in ${timeText(seconds)} ` +
      `(${Math.round(lines / seconds)} lines/s).\n`,
  );
}

function tellBadLines(count: number, { first, file }: BadLines): void {
  for (const line of first) process.stderr.write(`outrigger: line ${line.line}: ${whyBad(line)}\n`);
  if (count <= first.length) return;
  const where = file === null ? "--bad-lines <file> names them all" : `${file} names them all`;
  process.stderr.write(`outrigger: … and ${count - first.length} lines more: ${where}\n`);
}

function whyBad({ reason, field }: BadLine): string {
  return field === undefined || reason === "address" ? REASONS[reason] : `${REASONS[reason]} (${field})`;
}
