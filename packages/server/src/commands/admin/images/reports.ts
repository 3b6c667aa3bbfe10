import type { ImageReport } from "@outrigger/core";
import { isoText, minuteText } from "../../../cli/amounts.ts";
import { jsonText, printable, printFailure, printLines, tableRow } from "../../../cli/print.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withAdmin } from "../with-admin.ts";

const HEADING = ["ID", "REFERENCE", "DUE (UTC)", "LEFT", "COUNT", "DECISION", "REASONS"];
const WIDTHS = [22, 10, 16, -8, -7, 8];
const HOUR_MS = 3_600_000;

/** `outrigger images reports`: one line per reported image, or all that was reported as JSON. */
export async function reports(
  flags: DataFlags & { state?: "open" | "decided"; json?: boolean },
): Promise<void> {
  const { state, json = false } = flags;
  await withAdmin(flags, (admin) => printLines(linesOf(admin.reports.list({ state }), json)), printFailure);
}

async function* linesOf(found: AsyncIterable<ImageReport>, json: boolean): AsyncGenerator<string> {
  if (!json) yield tableRow(HEADING, WIDTHS);
  for await (const report of found) yield json ? jsonLine(report) : tableRow(columnsOf(report), WIDTHS);
}

function columnsOf({ id, reference, dueAt, count, decision, reasons }: ImageReport): string[] {
  const hours = Math.floor((dueAt - Date.now()) / HOUR_MS);
  const left = decision !== null ? "" : hours < 0 ? "overdue" : `${hours} h`;
  const columns = [id, reference, minuteText(dueAt), left, String(count), decision?.decision ?? ""];
  return [...columns, printable(reasons.join(", "))];
}

/** With dates as in the API. */
function jsonLine({ receivedAt, dueAt, decision, ...report }: ImageReport): string {
  const decided = decision && { ...decision, at: isoText(decision.at) };
  return jsonText({ ...report, receivedAt: isoText(receivedAt), dueAt: isoText(dueAt), decision: decided });
}
