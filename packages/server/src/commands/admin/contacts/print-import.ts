import { closeSync, openSync, writeSync } from "node:fs";
import type { BadLine, BadLineReason, ImportProgress } from "@outrigger/sql";
import { timeText } from "../../../cli/amounts.ts";
import { fileReasonOf } from "../../../cli/error-reason.ts";
import { note, printFailure, printOut } from "../../../cli/print.ts";
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

/**
 * Prints the result of an import, and what was not imported. If no line was, the exit code is 1.
 * @param name of the file.
 */
export function printImport(
  name: string,
  progress: ImportProgress,
  badLines: BadLines,
  json: boolean,
  ms: number,
): void {
  const { lines, added, updated, unchanged, suppressed, bad, dropped, unused } = progress;
  badLines.print(bad + dropped);
  if (unused.length > 0) {
    const columns = unused.map((column) => JSON.stringify(column)).join(", ");
    note(
      `Not imported: ${columns}, because other columns gave the same fields. --map <field>=<column> chooses a column`,
    );
  }
  if (lines > 0 && bad === lines) {
    const isUnnamed = badLines.first.some(({ reason }) => reason === "address");
    const remedy = ". If another column has the addresses, name it: --map address=<column>";
    printFailure(`${name}: No line could be imported${isUnnamed ? remedy : ""}`);
  }
  const seconds = Math.max(0.001, ms / 1000);
  const text =
    `${lines} lines: ${added} addresses added, ${updated} updated, ${unchanged} unchanged, ` +
    `${suppressed} suppressed and skipped, ${bad} bad lines, ${dropped} invalid values dropped, in ${timeText(seconds)} ` +
    `(${Math.round(lines / seconds)} lines/s).`;
  printOut(`${json ? JSON.stringify({ ...progress, ms: Math.round(ms) }) : text}\n`);
}

const SHOWN = 20;
const BUFFERED = 1000;

/** The lines that were skipped: the first in memory, all as CSV in a file if one is named. */
export class BadLines {
  /** The first skipped lines. */
  readonly first: BadLine[] = [];
  readonly #file: string | undefined;
  #descriptor: number | null = null;
  #waiting = ["line,reason,field\n"];

  /** @throws StartError if the file cannot be written. */
  constructor(file: string | undefined) {
    this.#file = file;
    if (file === undefined) return;
    try {
      this.#descriptor = openSync(file, "w", 0o600);
    } catch (cause) {
      throw new StartError(`${file} cannot be written: ${fileReasonOf(cause)}`, { cause });
    }
  }

  add(line: BadLine): void {
    if (this.first.length < SHOWN) this.first.push(line);
    if (this.#descriptor === null) return;
    this.#waiting.push(`${line.line},${line.reason},${line.field ?? ""}\n`);
    if (this.#waiting.length >= BUFFERED) this.#write(this.#descriptor);
  }

  /** Prints the first lines. @param count Number of all. */
  print(count: number): void {
    for (const { line, reason, field } of this.first) {
      const where = field === undefined || reason === "address" ? "" : ` (${field})`;
      note(`line ${line}: ${REASONS[reason]}${where}`);
    }
    const more = count - this.first.length;
    if (more > 0) note(`… and ${more} more lines: ${this.#file ?? "--bad-lines <file>"} names them all`);
  }

  close(): void {
    if (this.#descriptor === null) return;
    this.#write(this.#descriptor);
    closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  /** Synchronously, not by a stream: bad lines may arrive faster than a slow disk writes. */
  #write(descriptor: number): void {
    writeSync(descriptor, this.#waiting.join(""));
    this.#waiting = [];
  }
}
