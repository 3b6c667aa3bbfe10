import type { BlobStore } from "../../contracts/blob-store.ts";
import { isDueEntry } from "../../contracts/due-index.ts";
import type { DueList } from "../../stores/due-list.ts";
import { readAll } from "../../stores/read-all.ts";
import { isImageId, jsonIn } from "../record/image-record.ts";
import { keysBelow } from "./remove-stored.ts";

const PREFIX = "rendition-usage/";
const HOUR_MS = 3_600_000;

/**
 * Deletes what releases up to 0.1 stored about the use of renditions: blobs `{images: {<id>: [<hour of the last use>, …]}}`. Each
 * image gets an entry in the due list of idle images. One that has renditions is found in no other way if it is never used again.
 * @param idleMs `null`: renditions are kept for ever.
 * @param mayGoOn `false` stops the removal.
 */
export async function removeEarlierUsage(
  store: BlobStore,
  idle: DueList,
  idleMs: number | null,
  mayGoOn: () => boolean,
): Promise<void> {
  for await (const key of keysBelow(store, PREFIX)) {
    const blob = idleMs === null ? null : await store.get(key);
    const { images } = Object(blob && jsonIn(await readAll(blob.body))) as { images?: unknown }; // Checked here.
    for (const [id, use] of Object.entries(Object(images))) {
      if (!mayGoOn()) return;
      const [hour] = Array.isArray(use) ? use : [];
      const entry = { id, dueMs: Number(hour) * HOUR_MS + Number(idleMs) };
      if (isImageId(id) && isDueEntry(entry)) await idle.add(entry);
    }
    if (!mayGoOn()) return;
    await store.delete(key);
  }
}
