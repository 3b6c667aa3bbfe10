import type { BlobStore } from "../contracts/blob-store.ts";
import { type DueEntry, type DueIndex, hasDueIndex, MAX_DUE_MS } from "../contracts/due-index.ts";
import { ServiceError } from "../errors.ts";
import { listAll } from "./list-all.ts";

/** One list of a due index. */
export interface DueList {
  /** As {@link DueIndex.addDue}. */
  add(entry: DueEntry, signal?: AbortSignal): Promise<void>;
  /** As {@link DueIndex.removeDue}. */
  remove(entry: DueEntry): Promise<void>;
  /** Entries that are due at `untilMs`, oldest first, at most `limit`; as {@link DueIndex.listDue}. */
  due(untilMs: number, limit: number): Promise<DueEntry[]>;
  /** As {@link DueIndex.pollMs}, never absent. */
  readonly pollMs: number;
}

const SWEPT_AT_ONCE = 200;

/** Works on all entries that are due, and removes those whose work succeeded. @param onError Receives the failures; the entries stay. */
export async function sweepDue(
  list: DueList,
  untilMs: number,
  work: (id: string) => Promise<void>,
  onError: (error: unknown) => void,
): Promise<void> {
  for (;;) {
    const entries = await list.due(untilMs, SWEPT_AT_ONCE);
    let swept = 0;
    for (const entry of entries) {
      try {
        await work(entry.id);
        await list.remove(entry);
        swept++;
      } catch (error) {
        onError(error);
      }
    }
    if (entries.length < SWEPT_AT_ONCE || swept === 0) return;
  }
}

const POLL_MS = 1000;
/** For a store without a due index, which lists all entries. */
const BLOB_POLL_MS = 30_000;

/** The list with this name: kept in the store's due index, or as empty blobs if the store has none. */
export function createDueList(store: BlobStore, list: string): DueList {
  const index = hasDueIndex(store) ? store : createBlobDueIndex(store);
  return {
    add: (entry, signal) => index.addDue(list, entry, signal),
    remove: (entry) => index.removeDue(list, entry),
    due: (untilMs, limit) => index.listDue(list, untilMs, limit),
    pollMs: index.pollMs ?? POLL_MS,
  };
}

/** Entries as empty blobs `due-<list>/<time>.<id>`. */
function createBlobDueIndex(store: BlobStore): DueIndex {
  return {
    pollMs: BLOB_POLL_MS,
    async addDue(list, entry, signal) {
      await store.put(
        prefixOf(list) + dueName(entry),
        Buffer.alloc(0),
        signal === undefined ? {} : { signal },
      );
    },
    async removeDue(list, entry) {
      await store.delete(prefixOf(list) + dueName(entry));
    },
    async listDue(list, untilMs, limit) {
      checkDueQuery(untilMs, limit);
      const prefix = prefixOf(list);
      const found: DueEntry[] = [];
      // Pages are unordered, so the oldest entry may be on the last page. A store for which this costs too
      // much has a due index.
      for await (const key of listAll(store, prefix)) {
        const entry = parseDueName(key.slice(prefix.length));
        if (entry !== null && entry.dueMs <= untilMs) found.push(entry);
      }
      return found.sort((a, b) => a.dueMs - b.dueMs).slice(0, limit);
    },
  };
}

function prefixOf(list: string): string {
  checkDueList(list);
  return `due-${list}/`;
}

const TIME_DIGITS = 9;
const NAME = /^([0-9a-z]{9})\.([A-Za-z0-9_-]{1,64})$/;

/** Whether an entry has the form that {@link DueEntry} documents. */
export function isDueEntry({ id, dueMs }: DueEntry): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) && Number.isInteger(dueMs) && dueMs >= 0 && dueMs <= MAX_DUE_MS;
}

/** The entry as a name that sorts by time. Throws `bad_request` for an invalid entry. */
export function dueName(entry: DueEntry): string {
  if (!isDueEntry(entry))
    throw new ServiceError(
      "bad_request",
      "Not an entry of a due index: expected an ID and a time in Unix milliseconds",
    );
  return `${entry.dueMs.toString(36).padStart(TIME_DIGITS, "0")}.${entry.id}`;
}

/** The entry that a name encodes; `null` for any other name. */
export function parseDueName(name: string): DueEntry | null {
  const [, time, id] = NAME.exec(name) ?? [];
  return time === undefined || id === undefined ? null : { id, dueMs: Number.parseInt(time, 36) };
}

/** Throws `bad_request` for an invalid list name. */
export function checkDueList(list: string): void {
  if (!/^[a-z]{1,20}$/.test(list))
    throw new ServiceError("bad_request", "Not the name of a due list: use 1 to 20 lower-case letters");
}

/** Throws `bad_request` for an invalid query. */
export function checkDueQuery(untilMs: number, limit: number): void {
  const isTime = untilMs >= 0 && (Number.isInteger(untilMs) || untilMs === Number.POSITIVE_INFINITY);
  if (!isTime || !Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new ServiceError(
      "bad_request",
      "A due query needs a time of at least 0 and a limit from 1 to 1000",
    );
  }
}
