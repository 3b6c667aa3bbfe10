import type { ImageState, ListedImage } from "@outrigger/core";
import { isoText, minuteText, sizeText } from "../../../cli/amounts.ts";
import { printLines } from "../../../cli/print-lines.ts";
import { printable } from "../../../cli/printable.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { withAdmin } from "../with-admin.ts";

/** Fixed widths, so that lines can be printed as images are read. */
const WIDTHS = [22, 10, 17, 8, 16, 16];
const SIZE_AT = 3;

const HEADING = lineOf(["ID", "STATE", "TYPE", "SIZE", "CREATED (UTC)", "EXPIRES (UTC)", "NAME"]);

/** The validated options of `outrigger images list`. */
export interface ListFlags extends DataFlags {
  state?: ImageState;
  owner?: string;
  createdFrom?: Date;
  createdBefore?: Date;
  /** Most images to list, from 1. */
  limit?: number;
  json?: boolean;
}

/** `outrigger images list`: one line per image as it is read, as a table or as JSON. */
export async function list(flags: ListFlags): Promise<void> {
  const { json = false, state, owner, createdFrom, createdBefore, limit, ...place } = flags;
  await withAdmin(place, async (admin) => {
    const images = admin.list({
      state,
      owner,
      createdFrom: createdFrom?.getTime(),
      createdBefore: createdBefore?.getTime(),
    });
    await printLines(linesOf(first(images, limit), json));
  });
}

async function* linesOf(images: AsyncIterable<ListedImage>, json: boolean): AsyncGenerator<string> {
  if (!json) yield HEADING;
  for await (const image of images) yield json ? jsonLine(image) : tableLine(image);
}

async function* first(
  images: AsyncIterable<ListedImage>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ListedImage> {
  let count = 0;
  for await (const image of images) {
    yield image;
    count++;
    if (count === limit) return;
  }
}

/** An image as a line of the table; a damaged one shows only ID and state. Names are untrusted text. */
function tableLine({ id, state, type, size, createdAt, expiresAt, name }: ListedImage): string {
  if (state === "damaged") return lineOf([id, state, "", "", "", "", ""]);
  return lineOf([
    id,
    state,
    type,
    sizeText(size),
    minuteText(createdAt),
    expiresAt === null ? "never" : minuteText(expiresAt),
    printable(name),
  ]);
}

/** An image as a line of JSON, with dates as in the API. */
function jsonLine({ id, state, createdAt, expiresAt, ...image }: ListedImage): string {
  if (state === "damaged") return `${JSON.stringify({ id, state })}\n`;
  const dates = { createdAt: isoText(createdAt), expiresAt: expiresAt === null ? null : isoText(expiresAt) };
  return `${printable(JSON.stringify({ id, state, ...image, ...dates }))}\n`;
}

function lineOf(columns: readonly string[]): string {
  const padded = columns.map((text, at) =>
    at === SIZE_AT ? text.padStart(8) : text.padEnd(WIDTHS[at] ?? 0),
  );
  return `${padded.join("  ")}
`;
}
