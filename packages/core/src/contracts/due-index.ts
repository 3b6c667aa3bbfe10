/** An entry of a due index: work on `id` is due at a time. */
export interface DueEntry {
  /** `[A-Za-z0-9_-]{1,64}` */
  id: string;
  /** Unix milliseconds, an integer from 0 to {@link MAX_DUE_MS}. */
  dueMs: number;
}

/** The largest `dueMs`, in Unix milliseconds: nine digits in base 36, the year 5188. */
export const MAX_DUE_MS = 36 ** 9 - 1;

/**
 * Optional ability of a store: lists ordered by time, as durable and shared as its blobs. The cost of finding
 * due entries does not depend on the number of entries that are not due. A list is named by `[a-z]{1,20}` and
 * exists from its first use. A list may hold the same ID at several times.
 *
 * An argument of another form rejects with `bad_request`; other failures reject as they do for blobs.
 */
export interface DueIndex {
  /**
   * Adds an entry. Once it resolves, the entry is as durable as a blob. Adding an existing entry changes
   * nothing. After a rejection the entry may exist or not; an extra entry does no harm.
   * @param signal If it is already aborted, nothing is added and the promise rejects with its reason.
   */
  addDue(list: string, entry: DueEntry, signal?: AbortSignal): Promise<void>;
  /**
   * Removes an entry; an absent entry is no error. After a crash of the machine, a removed entry may be back.
   */
  removeDue(list: string, entry: DueEntry): Promise<void>;
  /**
   * The entries that are due at `untilMs` or earlier, oldest first: at most `limit` (1 to 1000). An entry
   * that exists during the whole call is never passed over for a younger one.
   * @param untilMs Unix milliseconds, an integer from 0, or Infinity for all.
   */
  listDue(list: string, untilMs: number, limit: number): Promise<DueEntry[]>;
  /**
   * How long a process waits between two polls of a list that is usually empty, in milliseconds. A store that
   * charges for each request sets a longer time.
   * @default 1000
   */
  readonly pollMs?: number;
}

export function hasDueIndex(store: object): store is DueIndex {
  return "addDue" in store && "removeDue" in store && "listDue" in store;
}
