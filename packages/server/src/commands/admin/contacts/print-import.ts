import type { BadLine, BadLineReason, ImportProgress } from "@outrigger/sql";
import { timeText } from "../../../cli/amounts.ts";
import { note, printFailure, printOut } from "../../../cli/print.ts";

const REASONS: Readonly<Record<BadLineReason, string>> = {
  columns: "its number of columns differs from the first line",
  encoding: "it is not UTF-8",
  truncated: "the file ends in the middle of it",
  json: "it is not a JSON object",
  too_long: "it is longer than 1 MiB",
  address: "it has no email address",
  value: "it was imported without an invalid value",
};

/** Prints why a line was skipped, or imported without a value. */
export function noteBadLine({ line, reason, field }: BadLine): void {
  const where = field === undefined || reason === "address" ? "" : ` (${field})`;
  note(`line ${line}: ${REASONS[reason]}${where}`);
}

/** Prints the result of an import. If no line was imported, the exit code is 1. @param name Name of the file. */
export function printImport(name: string, progress: ImportProgress, json: boolean, ms: number): void {
  const { lines, added, updated, unchanged, suppressed, bad, dropped, unused } = progress;
  if (unused.length > 0) {
    const columns = unused.map((column) => JSON.stringify(column)).join(", ");
    note(
      `Not imported: ${columns}, because other columns gave the same fields. --map <field>=<column> chooses a column`,
    );
  }
  if (lines > 0 && bad === lines) {
    const remedy = "If another column has the addresses, name it: --map address=<column>";
    printFailure(`${name}: No line could be imported. ${remedy}`);
  }
  const text =
    `${lines} lines: ${added} addresses added, ${updated} updated, ${unchanged} unchanged, ` +
    `${suppressed} suppressed and skipped, ${bad} bad lines, ${dropped} invalid values dropped, in ${timeText(ms / 1000)}.`;
  printOut(`${json ? JSON.stringify({ ...progress, ms: Math.round(ms) }) : text}\n`);
}
