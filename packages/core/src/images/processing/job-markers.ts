import type { BlobStore } from "../../contracts/blob-store.ts";
import { createDueList } from "../../stores/due-list.ts";
import { isImageId } from "../record/image-id.ts";

/** Says that an image has, or may have, work to do. */
export interface JobMarker {
  id: string;
  /** That of its record, in Unix milliseconds. */
  createdAt: number;
}

/**
 * Markers of pending work: a list of its own, so that looking for work costs what is pending. A marker is there from before
 * its record until after the last trace of the work is removed.
 */
export interface JobMarkers {
  add(marker: JobMarker, signal: AbortSignal): Promise<void>;
  remove(marker: JobMarker): Promise<void>;
  /** Oldest first, at most `limit` of 1000. */
  list(limit: number): Promise<JobMarker[]>;
}

export function createJobMarkers(store: BlobStore): JobMarkers {
  const jobs = createDueList(store, "jobs");
  return {
    add: ({ id, createdAt }, signal) => jobs.add({ id, dueMs: createdAt }, signal),
    remove: ({ id, createdAt }) => jobs.remove({ id, dueMs: createdAt }),
    async list(limit) {
      const found = await jobs.due(Number.POSITIVE_INFINITY, limit);
      return found.filter(({ id }) => isImageId(id)).map(({ id, dueMs }) => ({ id, createdAt: dueMs }));
    },
  };
}
