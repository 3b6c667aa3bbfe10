import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { checkOptions } from "../../check-options.ts";
import type { RecordQueries } from "../../contracts/record-queries.ts";
import { type Options, text } from "../../option-rules.ts";
import { idOfRecord } from "../record/image-record.ts";
import type { LifeContext } from "./create-life.ts";
import { type ImageState, listedImage, listImages, NEWER, requireAllRead, UNREAD } from "./image-listing.ts";

/** Counts of images by state, with the bytes of those originals that are still stored. */
export interface ImageStats {
  images: number;
  bytes: number;
  states: Record<ImageState, number>;
  /** Images that a newer release wrote. This release cannot read their records, so no other count includes them. */
  newer: number;
}

const RULES = {
  /** Counts only images of this owner, by reading their records. @default all images */
  owner: text("the name of an owner", () => true),
};

export interface CountOptions extends Options<typeof RULES> {}

/** Number of records read concurrently. */
const AT_ONCE = 8;

/** Counts images: by queries of the store, or by reading every record. */
export async function countImages(context: LifeContext, options?: CountOptions): Promise<ImageStats> {
  const { owner } = checkOptions("stats", options, RULES);
  const { records, settings } = context;
  const stats = noImages();
  if (owner !== undefined) {
    for await (const { state, size } of listImages(context, { owner })) add(stats, state, 1, size);
    return stats;
  }
  const ids =
    records.queries === null ? records.ids() : countByQueries(records.queries, settings.now(), stats);
  let unread = 0;
  await forEachAtOnce(ids, AT_ONCE, async (id) => {
    const image = await listedImage(context, id);
    if (image === UNREAD) unread++;
    else if (image === NEWER) stats.newer++;
    else if (image !== null) add(stats, image.state, 1, image.size);
  });
  requireAllRead(unread);
  return stats;
}

/** Adds what the store counts. @returns IDs of images whose records it cannot judge. */
async function* countByQueries(
  queries: RecordQueries,
  nowMs: number,
  stats: ImageStats,
): AsyncGenerator<string> {
  for (let part = 0; part < queries.recordParts; part++) {
    const { counts, unknown } = await queries.countRecords(part, nowMs);
    for (const { state, images, bytes } of counts) add(stats, state, images, bytes);
    for (const key of unknown) {
      const id = idOfRecord(key);
      if (id !== null) yield id;
    }
  }
}

function noImages(): ImageStats {
  const states = {
    processing: 0,
    held: 0,
    ready: 0,
    withheld: 0,
    failed: 0,
    deleted: 0,
    expired: 0,
    removed: 0,
    damaged: 0,
  };
  return { images: 0, bytes: 0, states, newer: 0 };
}

/** The states in which the original is stored. */
const WITH_BYTES: readonly ImageState[] = ["processing", "held", "ready", "withheld"];

function add(stats: ImageStats, state: ImageState, images: number, bytes: number): void {
  stats.images += images;
  stats.states[state] += images;
  if (WITH_BYTES.includes(state)) stats.bytes += bytes;
}
