import type { BlobStore } from "../contracts/blob-store.ts";
import { type DueEntry, type DueIndex, hasDueIndex } from "../contracts/due-index.ts";
import { checkDueList, checkDueQuery, dueName, parseDueName } from "./due-names.ts";

/** One list of a due index. */
export interface DueList {
  /** As {@link DueIndex.addDue}. */
  add(entry: DueEntry, signal?: AbortSignal): Promise<void>;
  /** As {@link DueIndex.removeDue}. */
  remove(entry: DueEntry): Promise<void>;
  /** What is due at `untilMs`, the oldest first, at most `limit`; as {@link DueIndex.listDue}. */
  due(untilMs: number, limit: number): Promise<DueEntry[]>;
}

/** The list of this name in a store: by the store's own ability, else as empty blobs. */
export function createDueList(store: BlobStore, list: string): DueList {
  const index = hasDueIndex(store) ? store : createBlobDueIndex(store);
  return {
    add: (entry, signal) => index.addDue(list, entry, signal),
    remove: (entry) => index.removeDue(list, entry),
    due: (untilMs, limit) => index.listDue(list, untilMs, limit),
  };
}

/** Entries as empty blobs `due-<list>/<time>.<id>`. */
function createBlobDueIndex(store: BlobStore): DueIndex {
  return {
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
      // Pages come in no order: the oldest may be on the last. A store for which that is too dear has the ability.
      let cursor: string | undefined;
      do {
        const page = await store.list(prefix, cursor === undefined ? {} : { cursor });
        const entries = page.keys.map((key) => parseDueName(key.slice(prefix.length)));
        found.push(...entries.filter((entry) => entry !== null).filter(({ dueMs }) => dueMs <= untilMs));
        cursor = page.cursor;
      } while (cursor !== undefined);
      return found.sort((a, b) => a.dueMs - b.dueMs).slice(0, limit);
    },
  };
}

function prefixOf(list: string): string {
  checkDueList(list);
  return `due-${list}/`;
}
