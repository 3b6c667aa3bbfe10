import type { BlobStore } from "../../contracts/blob-store.ts";
import type { Logger } from "../../contracts/logger.ts";
import { type FailureListener, markReported } from "../../http/failure-listener.ts";
import { FORMAT_VERSION, isKnownVersion } from "../record/known-version.ts";
import { readIdentity, type StoreIdentity, StoreRefused } from "./store-identity.ts";

/** Keeps a service from working on a store that is not, or no longer, the one that it was started on. */
export interface StoreGuard {
  /** Whether the first check has succeeded: then `open` need not be awaited. */
  readonly isOpen: boolean;
  /** Resolves when the store has passed the first check. A check that failed is repeated by the next call. */
  open(): Promise<void>;
  /**
   * Resolves when the store still is the one that was opened, by a look that begins after this call. Concurrent calls share
   * looks. Rejects with `store_unavailable` for another store, and as the store does.
   */
  confirm(): Promise<void>;
}

export interface StoreGuardOptions {
  records: BlobStore;
  /** The first check. Resolves to the ID of the store; `null` where it has none, and gets none. */
  first(): Promise<string | null>;
  /** Called once for each change of state, not for each call that is refused; `null`: each caller reports it. */
  onError: FailureListener | null;
  log: Logger;
}

export function createStoreGuard({ records, first, onError, log }: StoreGuardOptions): StoreGuard {
  /** `undefined` until the first check has succeeded. */
  let id: string | null | undefined;
  let opening: Promise<void> | null = null;
  let running: Promise<void> | null = null;
  let waiting: Promise<void> | null = null;
  /** What was reported last, while it holds. */
  let trouble: string | null = null;

  async function watched(check: () => Promise<void>): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (error instanceof StoreRefused) report(error);
      throw error;
    }
    if (trouble !== null) log.info({}, "the storage is back");
    trouble = null;
  }

  function report(error: StoreRefused): void {
    if (onError === null) return;
    if (trouble !== error.message) onError(error);
    trouble = error.message;
    markReported(error);
  }

  async function look(): Promise<void> {
    const identity = (await readIdentity(records))?.identity ?? null;
    if (identity !== null) requireKnownFormat(identity);
    // A store of an earlier release that a service has named since.
    if (id === null) id = identity?.id ?? null;
    else if (identity === null) throw new StoreRefused(EMPTY);
    else if (identity.id !== id) throw new StoreRefused(OTHER);
  }

  function start(): Promise<void> {
    running = watched(look).finally(() => {
      running = null;
    });
    return running;
  }

  function open(): Promise<void> {
    if (id !== undefined) return Promise.resolve();
    opening ??= watched(async () => {
      id = await first();
    }).finally(() => {
      opening = null;
    });
    return opening;
  }

  return {
    get isOpen() {
      return id !== undefined;
    },
    open,
    confirm() {
      if (id === undefined) return open();
      if (running === null) return start();
      // The look under way may have begun before what is to be confirmed was seen.
      waiting ??= running
        .catch(() => undefined) // Its own callers get it.
        .then(() => {
          waiting = null;
          return start();
        });
      return waiting;
    },
  };
}

/** For commands, which have no secret: they write no identity, and refuse a store that a newer release has changed. */
export function createAdminGuard(records: BlobStore, log: Logger): StoreGuard {
  return createStoreGuard({
    records,
    async first() {
      const held = await readIdentity(records);
      if (held !== null) requireKnownFormat(held.identity);
      return held?.identity.id ?? null;
    },
    onError: null,
    log,
  });
}

/** @throws StoreRefused for a store that a newer release has changed. */
export function requireKnownFormat({ v }: StoreIdentity): void {
  if (isKnownVersion(v)) return;
  throw new StoreRefused(
    `A newer release has changed this storage: it has format version ${v}, and this release reads up to ${FORMAT_VERSION}. Upgrade this process`,
  );
}

const EMPTY =
  "The storage has become empty: the data that this process was started on is gone. Mount or restore it; restart the process to begin anew";
const OTHER =
  "The storage was replaced by another one while this process was running. Put the former one back; restart the process to use this one";
