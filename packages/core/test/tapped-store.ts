import type { BlobStore, PutOptions } from "../src/contracts/blob-store.ts";
import { type DueIndex, hasDueIndex } from "../src/contracts/due-index.ts";

/** A call of a store, as a tap receives it. */
export interface StoreCall {
  method: Exclude<keyof BlobStore, "close"> | keyof DueIndex;
  /** The key, prefix, or `list/id` of the call. */
  key: string;
  /** The condition of a conditional `put`. */
  ifRevision?: string | null;
}

/** Called before each call of a store; it may delay the call or make it fail. */
export type Tap = (call: StoreCall) => void | Promise<void>;

/**
 * A store that lets a test observe, delay and fail every call. Of the optional abilities it keeps only the
 * due index.
 */
export function tapStore(store: BlobStore, tap: Tap): BlobStore {
  const blobs: BlobStore = {
    async put(key, body, options: PutOptions = {}) {
      const { ifRevision } = options;
      await tap({ method: "put", key, ...(ifRevision === undefined ? {} : { ifRevision }) });
      return store.put(key, body, options);
    },
    async get(key, options) {
      await tap({ method: "get", key });
      return store.get(key, options);
    },
    async stat(key) {
      await tap({ method: "stat", key });
      return store.stat(key);
    },
    async delete(key) {
      await tap({ method: "delete", key });
      return store.delete(key);
    },
    async list(prefix, options) {
      await tap({ method: "list", key: prefix });
      return store.list(prefix, options);
    },
    close: () => store.close(),
  };
  return hasDueIndex(store) ? { ...blobs, ...tapDue(store, tap) } : blobs;
}

function tapDue(index: DueIndex, tap: Tap): DueIndex {
  return {
    async addDue(list, entry, signal) {
      await tap({ method: "addDue", key: `${list}/${entry.id}` });
      await index.addDue(list, entry, signal);
    },
    async removeDue(list, entry) {
      await tap({ method: "removeDue", key: `${list}/${entry.id}` });
      await index.removeDue(list, entry);
    },
    async listDue(list, untilMs, limit) {
      await tap({ method: "listDue", key: list });
      return index.listDue(list, untilMs, limit);
    },
  };
}

/** A promise that a test resolves. */
export function signal(): { promise: Promise<void>; give(): void } {
  let give = () => {};
  const promise = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { promise, give: () => give() };
}

/** Delays the first call that `isIt` accepts, until the test releases it. */
export function holdUp(isIt: (call: StoreCall) => boolean): {
  tap: Tap;
  reached: Promise<void>;
  letGo(): void;
} {
  const held = signal();
  const reached = signal();
  let isOver = false;
  return {
    reached: reached.promise,
    letGo: held.give,
    async tap(call) {
      if (isOver || !isIt(call)) return;
      isOver = true;
      reached.give();
      await held.promise;
    },
  };
}
