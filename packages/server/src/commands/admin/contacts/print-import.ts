import { closeSync, openSync, writeSync } from "node:fs";
import type { BadLine, BadLineReason, ImportProgress } from "@outrigger/sql";
import { timeText } from "../../../cli/amounts.ts";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { StartError } from "../../../config/config-error.ts";

const REASONS: Readonly<Record<BadLineReason, string>> = {
  columns: "its number of columns differs from the first line",
  encoding: "it is not UTF-8",
  truncated: "the file ends in the middle of it",
  json: "it is not a JSON object",
  too_long: "it is longer than 1 MiB",
  address: "it has no email address",
  value: "it was imported without an invalid value",
};

/** How an import ended, and how to print it. */
export interface ImportEnd {
  ms: number;
  badLines: BadLines;
  json: boolean;
}

/**
 * Prints the result of an import, and what was not imported. If no line was, the exit code is 1.
 * @param name of the file.
 */
export function printImport(name: string, progress: ImportProgress, { ms, badLines, json }: ImportEnd): void {
  // The reader may have ended; the exit code still reports failures.
  process.stdout.on("error", () => {});
  printBadLines(progress.bad + progress.dropped, badLines);
  if (progress.unused.length > 0) {
    const columns = progress.unused.map((column) => JSON.stringify(column)).join(", ");
    process.stderr.write(
      `outrigger: Not imported: ${columns}, because other columns gave the same fields. ` +
        "--map <field>=<column> chooses a column\n",
    );
  }
  if (progress.lines > 0 && progress.bad === progress.lines) {
    process.exitCode = 1;
    const remedy = badLines.first.some(({ reason }) => reason === "address")
      ? ". If another column has the addresses, name it: --map address=<column>"
      : "";
    process.stderr.write(`outrigger: ${name}: No line could be imported${remedy}\n`);
  }
  const seconds = Math.max(0.001, ms / 1000);
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...progress, ms: Math.round(ms) })}\n`);
    return;
  }
  const { lines, added, updated, unchanged, suppressed, bad, dropped } = progress;
  process.stdout.write(
    `${lines} lines: ${added} addresses added, ${updated} updated, ${unchanged} unchanged, ` +
      `${suppressed} suppressed and skipped, ${bad} bad lines, ${dropped} invalid values dropped, in ${timeText(seconds)} ` +
      `(${Math.round(lines / seconds)} lines/s).\n`,
  );
}

function printBadLines(count: number, { first, file }: BadLines): void {
  for (const line of first) process.stderr.write(`outrigger: line ${line.line}: ${whyBad(line)}\n`);
  if (count <= first.length) return;
  const where = file === null ? "--bad-lines <file> names them all" : `${file} names them all`;
  process.stderr.write(`outrigger: … and ${count - first.length} more lines: ${where}\n`);
}

function whyBad({ reason, field }: BadLine): string {
  return field === undefined || reason === "address" ? REASONS[reason] : `${REASONS[reason]} (${field})`;
}

/** The lines that were skipped. */
export interface BadLines {
  /** The first skipped lines. */
  first: readonly BadLine[];
  /** The file that lists all skipped lines; `null` without one. */
  file: string | null;
  add(line: BadLine): void;
  close(): void;
}

const SHOWN = 20;
const BUFFERED = 1000;

/**
 * Records skipped lines: the first in memory, all as CSV in a file if one is named.
 * @throws StartError if the file cannot be written.
 */
export function noteBadLines(file: string | undefined): BadLines {
  const first: BadLine[] = [];
  const descriptor = file === undefined ? null : opened(file);
  let waiting: string[] = ["line,reason,field\n"];
  let isClosed = false;

  // Synchronously, not by a stream: bad lines may arrive faster than a slow disk writes.
  function write(): void {
    if (descriptor !== null) writeSync(descriptor, waiting.join(""));
    waiting = [];
  }

  return {
    first,
    file: file ?? null,
    add(line) {
      if (first.length < SHOWN) first.push(line);
      if (descriptor === null) return;
      waiting.push(`${line.line},${line.reason},${line.field ?? ""}\n`);
      if (waiting.length >= BUFFERED) write();
    },
    close() {
      if (isClosed || descriptor === null) return;
      isClosed = true;
      write();
      closeSync(descriptor);
    },
  };
}

function opened(file: string): number {
  try {
    return openSync(file, "w", 0o600);
  } catch (cause) {
    throw new StartError(`${file} cannot be written: ${fileReasonOf(cause)}`, { cause });
  }
}
