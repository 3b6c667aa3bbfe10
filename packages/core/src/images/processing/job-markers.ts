import type { BlobStore } from "../../contracts/blob-store.ts";
import { createDueList } from "../../stores/due-list.ts";
import { isImageId } from "../record/image-id.ts";

/** Marks an image that has, or may have, pending work. */
export interface JobMarker {
  id: string;
  /** `createdAt` of the record, in Unix milliseconds. */
  createdAt: number;
}

/**
 * Markers of pending work, in a separate list, so that a poll costs only what is pending. A marker is written before the
 * record and removed after all other traces of the work.
 */
export interface JobMarkers {
  add(marker: JobMarker, signal: AbortSignal): Promise<void>;
  remove(marker: JobMarker): Promise<void>;
  /** Markers, oldest first, at most `limit`, which is at most 1000. */
  list(limit: number): Promise<JobMarker[]>;
  /** Time between two polls of the list, in milliseconds. */
  readonly pollMs: number;
}

/** @param polled The same store without an observer, whose traces would otherwise consist of polls. */
export function createJobMarkers(store: BlobStore, polled: BlobStore): JobMarkers {
  const jobs = createDueList(store, "jobs");
  const pending = createDueList(polled, "jobs");
  return {
    pollMs: pending.pollMs,
    add: ({ id, createdAt }, signal) => jobs.add({ id, dueMs: createdAt }, signal),
    remove: ({ id, createdAt }) => jobs.remove({ id, dueMs: createdAt }),
    async list(limit) {
      const found = await pending.due(Number.POSITIVE_INFINITY, limit);
      return found.filter(({ id }) => isImageId(id)).map(({ id, dueMs }) => ({ id, createdAt: dueMs }));
    },
  };
}
