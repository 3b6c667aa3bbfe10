import type { BadLine, BadLineReason, ImportProgress } from "@outrigger/sql";
import { timeText } from "../../../cli/amounts.ts";
import { jsonText, note, printable, printFailure, printOut } from "../../../cli/print.ts";

const REASONS: Readonly<Record<BadLineReason, string>> = {
  columns:
    "its number of columns differs from the first line, or a stray quotation mark joins it with others",
  encoding: "it has a damaged character",
  truncated: "the file ends in the middle of it",
  json: "it is not a JSON object",
  vcard: "it is not a vCard of version 2.1, 3.0 or 4.0",
  too_long: "it is longer than 1 MiB",
  address: "it has no email address",
  value: "it was imported without an invalid or further value",
};

/** Prints why a line was skipped, or imported without a value. */
export function noteBadLine({ line, reason, field }: BadLine): void {
  const where = field === undefined || reason === "address" ? "" : ` (${field})`;
  note(`line ${line}: ${REASONS[reason]}${where}`);
}

/** Prints the result of an import. If no line was imported, the exit code is 1. @param name Name of the file. */
export function printImport(name: string, progress: ImportProgress, json: boolean, ms: number): void {
  const { columns: _, samples: __, ...result } = progress;
  const { lines, added, updated, unchanged, suppressed, bad, dropped } = result;
  noteFile(name, progress);
  const text =
    `${lines} lines: ${added} addresses added, ${updated} updated, ${unchanged} unchanged, ` +
    `${suppressed} suppressed and skipped, ${bad} bad lines, ${dropped} values dropped, in ${timeText(ms / 1000)}.`;
  printOut(`${json ? JSON.stringify({ ...result, ms: Math.round(ms) }) : text}\n`);
}

/** Prints what an import would do. If no line could be imported, the exit code is 1. */
export function printPreview(name: string, progress: ImportProgress, json: boolean): void {
  const { columns, samples, lines, bad, dropped, unused } = progress;
  noteFile(name, progress);
  if (json) {
    printOut(jsonText({ lines, bad, dropped, unused, columns, samples }));
    return;
  }
  const mapped = columns.map(({ column, fields }) => {
    return `${quoted(column)} → ${fields.length === 0 ? "not used" : fields.join(", ")}\n`;
  });
  printOut(`${mapped.join("")}${samples.map(jsonText).join("")}`);
  printOut(`${lines} lines: ${bad} bad lines, ${dropped} values dropped. Nothing was stored.\n`);
}

/** Notes on standard error what a user may not expect of a file. */
function noteFile(name: string, { lines, bad, columns, unused }: ImportProgress): void {
  if (unused.length > 0) {
    note(`Columns not used: ${unused.map(quoted).join(", ")}. --map <field>=<column> uses a column`);
  }
  // A header without lines is no failure.
  if (bad === lines && (lines > 0 || columns.length === 0)) {
    const remedy =
      lines > 0
        ? "If another column has the addresses, name it: --map address=<column>"
        : "It has no contact of its format; --format names another one";
    printFailure(`${name}: No line could be imported. ${remedy}`);
  }
}

function quoted(column: string): string {
  return printable(JSON.stringify(column));
}
