import type { ImageState, ListedImage } from "@outrigger/core";
import { printLines } from "../../../cli/print-lines.ts";
import { type DataFlags, withAdmin } from "../with-admin.ts";
import { HEADING, jsonLine, tableLine } from "./image-lines.ts";

/** Which images are listed. */
interface Choice {
  state?: ImageState;
  owner?: string;
  /** Most images to list, from 1. */
  limit?: number;
}

/** The validated options of `outrigger images list`. */
export interface ListFlags extends DataFlags, Choice {
  json?: boolean;
}

/** `outrigger images list`: one line per image as it is read, as a table or as JSON. */
export async function list({ json = false, state, owner, limit, ...flags }: ListFlags): Promise<void> {
  await withAdmin(flags, async (admin) => {
    const choice = {
      ...(state === undefined ? {} : { state }),
      ...(owner === undefined ? {} : { owner }),
      ...(limit === undefined ? {} : { limit }),
    };
    await printLines(linesOf(chosen(admin.list(), choice), json));
  });
}

async function* linesOf(images: AsyncIterable<ListedImage>, json: boolean): AsyncGenerator<string> {
  if (!json) yield HEADING;
  for await (const image of images) yield json ? jsonLine(image) : tableLine(image);
}

async function* chosen(
  images: AsyncIterable<ListedImage>,
  { state, owner, limit = Number.POSITIVE_INFINITY }: Choice,
): AsyncGenerator<ListedImage> {
  let count = 0;
  for await (const image of images) {
    if (state !== undefined && image.state !== state) continue;
    if (owner !== undefined && image.owner !== owner) continue;
    yield image;
    count++;
    if (count === limit) return;
  }
}
