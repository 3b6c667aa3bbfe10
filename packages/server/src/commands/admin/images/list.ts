import type { AuditEntry, ImageState, ImageStats, ListedImage } from "@outrigger/core";
import { bytesText } from "@outrigger/core/values";
import { isoText, minuteText } from "../../../cli/amounts.ts";
import { jsonText, printable, printFailure, printLines, tableRow } from "../../../cli/print.ts";
import { progressLine, rateText } from "../../../cli/progress-line.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withAdmin } from "../with-admin.ts";

const HEADING = ["ID", "STATE", "TYPE", "SIZE", "CREATED (UTC)", "EXPIRES (UTC)", "NAME"];
const WIDTHS = [22, 10, 17, -11, 16, 16];

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
    return printLines(linesOf(images, flags));
  });
}

async function* linesOf(
  images: AsyncIterable<ListedImage>,
  { json = false }: ListImagesFlags,
): AsyncGenerator<string> {
  if (!json) yield tableRow(HEADING, WIDTHS);
  for await (const image of images) yield json ? jsonLine(image) : tableRow(columnsOf(image), WIDTHS);
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

/** `outrigger images audit`: a JSON line for each act of an operator. Exits with 1 after an unreadable entry. */
export async function audit({ from, to, ...flags }: DataFlags & { from?: Date; to?: Date }): Promise<void> {
  const range = { from: from?.getTime(), to: to?.getTime() };
  await withAdmin(flags, (admin) => printLines(auditLines(admin.audit(range))), printFailure);
}

async function* auditLines(acts: AsyncIterable<AuditEntry>): AsyncGenerator<string> {
  for await (const { at, ...act } of acts) yield jsonText({ at: isoText(at), ...act });
}

/** `outrigger images stats`: the number of images in each state, and the bytes of their originals. */
export async function stats({ json = false, ...flags }: DataFlags & { json?: boolean }): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const progress = progressLine();
    const beganAt = performance.now();
    const onProgress = (images: number) =>
      progress.update(() => `${images} images counted, ${rateText(images, beganAt)}`);
    const found = await admin.stats({ onProgress }).finally(() => progress.close());
    process.stdout.write(json ? `${JSON.stringify(found)}\n` : statsTable(found));
  });
}

function statsTable({ images, bytes, states, newer }: ImageStats): string {
  const counts = { images, bytes: bytesText(bytes), ...states, ...(newer > 0 ? { newer } : {}) };
  const rows = Object.entries(counts).map(([name, value]) => tableRow([name, String(value)], [11, -11]));
  return rows.join("");
}
