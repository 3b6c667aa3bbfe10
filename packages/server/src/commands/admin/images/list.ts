import type { ImageReport, ImageState, ImageStats, ListedImage, StorageAdmin } from "@outrigger/core";
import { bytesText } from "@outrigger/core/values";
import { isoText, minuteText } from "../../../cli/amounts.ts";
import { jsonText, printable, printFailure, printLines, tableRow } from "../../../cli/print.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withAdmin } from "../with-admin.ts";

const IMAGES = {
  heading: ["ID", "STATE", "TYPE", "SIZE", "CREATED (UTC)", "EXPIRES (UTC)", "NAME"],
  widths: [22, 10, 17, -11, 16, 16],
};
const REPORTS = {
  heading: ["ID", "REFERENCE", "DUE (UTC)", "LEFT", "COUNT", "DECISION", "REASONS"],
  widths: [22, 10, 16, -8, -7, 8],
};
const HOUR_MS = 3_600_000;

/** The validated options of `outrigger images list`. */
export interface ListImagesFlags extends DataFlags {
  state?: ImageState;
  owner?: string;
  createdFrom?: Date;
  createdBefore?: Date;
  json?: boolean;
}

/** `outrigger images list`: one line per image as it is read, as a table or as JSON. */
export async function list(flags: ListImagesFlags): Promise<void> {
  await withAdmin(flags, (admin) => {
    const images = admin.list({
      state: flags.state,
      owner: flags.owner,
      createdFrom: flags.createdFrom?.getTime(),
      createdBefore: flags.createdBefore?.getTime(),
    });
    return printLines(flags.json ? eachOf(images, jsonLine) : tableOf(images, IMAGES, columnsOf));
  });
}

async function* eachOf<T>(items: AsyncIterable<T>, lineOf: (item: T) => string): AsyncGenerator<string> {
  for await (const item of items) yield lineOf(item);
}

async function* tableOf<T>(
  items: AsyncIterable<T>,
  { heading, widths }: typeof IMAGES,
  columnsIn: (item: T) => string[],
): AsyncGenerator<string> {
  yield tableRow(heading, widths);
  yield* eachOf(items, (item) => tableRow(columnsIn(item), widths));
}

/** A damaged image shows only ID and state. Names are untrusted text. */
function columnsOf({ id, state, type, size, createdAt, expiresAt, name }: ListedImage): string[] {
  if (state === "damaged") return [id, state];
  const expires = expiresAt === null ? "never" : minuteText(expiresAt);
  return [id, state, type, bytesText(size), minuteText(createdAt), expires, printable(name)];
}

/** An image as a line of JSON, with dates as in the API. */
function jsonLine({ id, state, createdAt, expiresAt, ...image }: ListedImage): string {
  if (state === "damaged") return jsonText({ id, state });
  const dates = { createdAt: isoText(createdAt), expiresAt: expiresAt === null ? null : isoText(expiresAt) };
  return jsonText({ id, state, ...image, ...dates });
}

/** `outrigger images reports`: one line per reported image, or all that was reported as JSON. */
export async function reports({
  state,
  json,
  ...flags
}: DataFlags & { state?: "open" | "decided"; json?: boolean }): Promise<void> {
  const print = ({ reports: admin }: StorageAdmin) => {
    const found = admin.list({ state });
    return printLines(json ? eachOf(found, reportLine) : tableOf(found, REPORTS, reportColumns));
  };
  await withAdmin(flags, print, printFailure);
}

function reportColumns({ id, reference, dueAt, count, decision, reasons }: ImageReport): string[] {
  const hours = Math.floor((dueAt - Date.now()) / HOUR_MS);
  const left = decision !== null ? "" : hours < 0 ? "overdue" : `${hours} h`;
  const columns = [id, reference, minuteText(dueAt), left, String(count), decision?.decision ?? ""];
  return [...columns, printable(reasons.join(", "))];
}

/** With dates as in the API. */
function reportLine({ receivedAt, dueAt, decision, ...report }: ImageReport): string {
  const decided = decision && { ...decision, at: isoText(decision.at) };
  return jsonText({ ...report, receivedAt: isoText(receivedAt), dueAt: isoText(dueAt), decision: decided });
}

/** `outrigger images stats`: the number of images in each state, and the bytes of their originals. */
export async function stats({ json = false, ...flags }: DataFlags & { json?: boolean }): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const found = await admin.stats();
    process.stdout.write(json ? `${JSON.stringify(found)}\n` : statsTable(found));
  });
}

function statsTable({ images, bytes, states, newer }: ImageStats): string {
  const counts = { images, bytes: bytesText(bytes), ...states, ...(newer > 0 ? { newer } : {}) };
  const rows = Object.entries(counts).map(([name, value]) => tableRow([name, String(value)], [11, -11]));
  return rows.join("");
}
