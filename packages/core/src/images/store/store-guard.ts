import { type BlobStore, hasRevisionProbe } from "../../contracts/blob-store.ts";
import type { Logger } from "../../contracts/logger.ts";
import { type FailureListener, markReported } from "../../http/failure-listener.ts";
import { FORMAT_VERSION, isKnownVersion } from "../record/known-version.ts";
import { IDENTITY_KEY, readIdentity, type StoreIdentity, StoreRefused } from "./store-identity.ts";

/** Stops a service from using a store other than the one that it was started on. */
export interface StoreGuard {
  /** Whether the first check has succeeded, so that `open` need not be awaited. */
  readonly isOpen: boolean;
  /** Resolves when the store has passed the first check. After a failed check, the next call repeats it. */
  open(): Promise<void>;
  /**
   * Resolves if the store is still the one that was opened, by a check that starts after this call. Concurrent calls share
   * checks. Rejects with `store_unavailable` for another store, otherwise like the store.
   */
  confirm(): Promise<void>;
}

export interface StoreGuardOptions {
  records: BlobStore;
  /** The first check. Resolves to the ID of the store; `null`: the store has no ID. */
  first(): Promise<string | null>;
  /** Called once per change of state, not per rejected call; `null`: each caller reports the error. */
  onError: FailureListener | null;
  log: Logger;
}

export function createStoreGuard({ records, first, onError, log }: StoreGuardOptions): StoreGuard {
  /** `undefined` until the first check has succeeded. */
  let id: string | null | undefined;
  /** Revision of the identity that passed the last check. */
  let passed: string | null = null;
  let opening: Promise<void> | null = null;
  let running: Promise<void> | null = null;
  let waiting: Promise<void> | null = null;
  /** Message of the last report, while it is still true. */
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
    // Cheaper than a read, for a check before each upload.
    if (passed !== null && hasRevisionProbe(records) && records.isCurrent(IDENTITY_KEY, passed)) return;
    passed = null;
    const held = await readIdentity(records);
    const identity = held?.identity ?? null;
    if (identity !== null) requireKnownFormat(identity);
    // A service has written the identity since this process opened a store of an earlier release.
    if (id === null) id = identity?.id ?? null;
    else if (identity === null) throw new StoreRefused(EMPTY);
    else if (identity.id !== id) throw new StoreRefused(OTHER);
    passed = held?.revision ?? null;
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
      // The running check may have started before the caller's observation.
      waiting ??= running
        .catch(() => undefined) // Its own callers get the error.
        .then(() => {
          waiting = null;
          return start();
        });
      return waiting;
    },
  };
}

/** A guard for commands, which have no secret: writes no identity, and rejects a store changed by a newer release. */
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

/** @throws StoreRefused for a store changed by a newer release. */
export function requireKnownFormat({ v }: StoreIdentity): void {
  if (isKnownVersion(v)) return;
  throw new StoreRefused(
    `A newer release has changed this storage: it has format version ${v}, and this release reads up to ${FORMAT_VERSION}. Upgrade this process`,
  );
}

const EMPTY =
  "The storage has become empty: the data that this process was started with is gone. Mount or restore it, or restart the process to use the empty storage";
const OTHER =
  "The storage was replaced by another one while this process was running. Mount the former one, or restart the process to use this one";
