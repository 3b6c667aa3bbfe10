/** That something is to be looked at from a time on. */
export interface DueEntry {
  /** `[A-Za-z0-9_-]{1,64}` */
  id: string;
  /** Unix milliseconds, from 0. */
  dueMs: number;
}

/**
 * Optional ability of a store: lists by time, durable and shared like its blobs, in which finding what is due costs what is
 * due, however much is not. A list is named by `[a-z]{1,20}`, and is there as soon as it is used.
 */
export interface DueIndex {
  /** When it resolves, the entry is as durable as a blob. Adding what is there already changes nothing. */
  addDue(list: string, entry: DueEntry, signal?: AbortSignal): Promise<void>;
  /** Removing what is not there changes nothing. */
  removeDue(list: string, entry: DueEntry): Promise<void>;
  /** What is due at `untilMs` or was before, the oldest first; at most `limit` of 1 to 1000 entries. */
  listDue(list: string, untilMs: number, limit: number): Promise<DueEntry[]>;
}

export function hasDueIndex(store: object): store is DueIndex {
  return "addDue" in store && "removeDue" in store && "listDue" in store;
}
