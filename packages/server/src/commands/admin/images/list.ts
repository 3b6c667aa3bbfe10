import type { ImageState, ListedImage } from "@outrigger/core";
import { printLines } from "../../../cli/print-lines.ts";
import { type DataFlags, withAdmin } from "../with-admin.ts";
import { HEADING, jsonLine, tableLine } from "./image-lines.ts";

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
      ...{ state, owner },
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
