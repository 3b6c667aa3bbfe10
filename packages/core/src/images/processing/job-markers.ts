import type { BlobStore } from "../../contracts/blob-store.ts";
import { isImageId } from "../image-id.ts";

/** Says that an image has, or may have, work to do. */
export interface JobMarker {
  id: string;
  /** That of its record, in Unix milliseconds. */
  createdAt: number;
}

/**
 * Markers of pending work: empty blobs below one prefix, so that looking for work costs what is pending. A marker is there
 * from before its record until after the last trace of the work is removed.
 */
export interface JobMarkers {
  add(marker: JobMarker, signal: AbortSignal): Promise<void>;
  remove(marker: JobMarker): Promise<void>;
  /** Oldest first, at most `limit` of 1000. */
  list(limit: number): Promise<JobMarker[]>;
}

const PREFIX = "jobs/";
/** Enough digits in base 36 for the next thousand years, so that names sort by time. */
const TIME_DIGITS = 9;
const MARKER = /^jobs\/([0-9a-z]{9})\.([A-Za-z0-9_-]+)$/;

export function createJobMarkers(store: BlobStore): JobMarkers {
  return {
    async add(marker, signal) {
      await store.put(markerKey(marker), Buffer.alloc(0), { signal });
    },
    async remove(marker) {
      await store.delete(markerKey(marker));
    },
    async list(limit) {
      // A page is in no particular order where the store has none; then the oldest of what it gives come first.
      const { keys } = await store.list(PREFIX, { limit });
      return keys
        .sort()
        .map(parseMarker)
        .filter((marker) => marker !== null);
    },
  };
}

function markerKey({ id, createdAt }: JobMarker): string {
  return `${PREFIX}${createdAt.toString(36).padStart(TIME_DIGITS, "0")}.${id}`;
}

function parseMarker(key: string): JobMarker | null {
  const [, time = "", id = ""] = MARKER.exec(key) ?? [];
  return isImageId(id) ? { id, createdAt: Number.parseInt(time, 36) } : null;
}
