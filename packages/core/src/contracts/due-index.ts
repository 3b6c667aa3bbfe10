/** That something is to be looked at from a time on. */
export interface DueEntry {
  /** `[A-Za-z0-9_-]{1,64}` */
  id: string;
  /** Unix milliseconds, an integer from 0 to {@link MAX_DUE_MS}. */
  dueMs: number;
}

/** The last time that an entry can have, in Unix milliseconds: nine digits in base 36, the year 5188. */
export const MAX_DUE_MS = 36 ** 9 - 1;

/**
 * Optional ability of a store: lists by time, durable and shared like its blobs, in which finding what is due costs what is
 * due, however much is not. A list is named by `[a-z]{1,20}`, and is there as soon as it is used. An ID may be in a list at
 * several times.
 *
 * An argument of another form rejects with `bad_request`; any other failure as with blobs.
 */
export interface DueIndex {
  /**
   * Once it resolves, the entry is as durable as a blob. Adding an existing entry changes nothing. After a rejection the entry
   * may exist or not: a superfluous entry does no harm.
   * @param signal If it is aborted beforehand, nothing is added; the promise rejects with its reason.
   */
  addDue(list: string, entry: DueEntry, signal?: AbortSignal): Promise<void>;
  /** Removing what is not there changes nothing. After a crash of the machine a removed entry may be there again. */
  removeDue(list: string, entry: DueEntry): Promise<void>;
  /**
   * What is due at `untilMs` or was before, the oldest first; at most `limit` of 1 to 1000 entries. An entry that is there
   * throughout is never missed for a younger one.
   * @param untilMs Unix milliseconds, an integer from 0, or Infinity for all.
   */
  listDue(list: string, untilMs: number, limit: number): Promise<DueEntry[]>;
}

export function hasDueIndex(store: object): store is DueIndex {
  return "addDue" in store && "removeDue" in store && "listDue" in store;
}

/** Whether `list` is of the grammar that {@link DueIndex} documents. */
export function isDueListName(list: string): boolean {
  return /^[a-z]{1,20}$/.test(list);
}

/** Whether an entry is of the form that {@link DueEntry} documents. */
export function isDueEntry({ id, dueMs }: DueEntry): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) && Number.isInteger(dueMs) && dueMs >= 0 && dueMs <= MAX_DUE_MS;
}

/** Whether the arguments of {@link DueIndex.listDue} are of the form that it documents. */
export function isDueQuery(untilMs: number, limit: number): boolean {
  const isTime = untilMs >= 0 && (Number.isInteger(untilMs) || untilMs === Number.POSITIVE_INFINITY);
  return isTime && Number.isInteger(limit) && limit >= 1 && limit <= 1000;
}
