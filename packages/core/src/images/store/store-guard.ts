import { isSettledWithin } from "../../async/settled-within.ts";
import type { StorageRoles } from "../../contracts/blob-store.ts";
import { type BlobStore, hasRevisionProbe } from "../../contracts/blob-store.ts";
import type { Logger } from "../../contracts/logger.ts";
import { type FailureListener, markReported } from "../../http/failure-listener.ts";
import {
  type Inspection,
  inspectStores,
  othersText,
  requireKnownFormat,
  unmarkedText,
} from "./inspect-stores.ts";
import {
  type BytesRole,
  IDENTITY_KEY,
  markKeyOf,
  readIdentity,
  readMark,
  rolesApart,
  rolesToWatch,
  StoreRefused,
  writeMark,
} from "./store-identity.ts";

export interface StoreGuardOptions {
  stores: StorageRoles;
  /** The first check. Resolves to the ID of the store; `null`: the store has no ID. */
  first(): Promise<string | null>;
  /** Called once, before the first check of a mark. Resolves to the roles whose marks are checked. */
  watched(): Promise<readonly BytesRole[]>;
  /** Called with the refusal of renditions of another storage, and with `null` for the right ones. Absent: checks reject with it. */
  refuseRenditions?(refusal: StoreRefused | null): void;
  /** Called once per change of state, not per rejected call; `null`: each caller reports the error. */
  onError: FailureListener | null;
  log: Logger;
}

/** Stops a service from using a store other than the one that it was started on. */
export class StoreGuard {
  readonly #options: StoreGuardOptions;
  readonly #watchRecords: (check: () => Promise<void>) => Promise<void>;
  readonly #confirmRecords: () => Promise<void>;
  readonly #confirmMarks: () => Promise<void>;
  /** `undefined` until the first check has succeeded. */
  #id: string | null | undefined;
  /** Revision of the identity that passed the last check. */
  #passed: string | null = null;
  #opening: Promise<void> | null = null;
  #marks: StoreMark[] | null = null;

  constructor(options: StoreGuardOptions) {
    const { onError, log } = options;
    const watchBytes = createWatch(onError, log);
    this.#options = options;
    this.#watchRecords = createWatch(onError, log);
    this.#confirmRecords = shared(() => this.#watchRecords(() => this.#checkIdentity()));
    this.#confirmMarks = shared(() => watchBytes(() => this.#checkMarks()));
  }

  /** Whether the first check has succeeded, so that `open` need not be awaited. */
  get isOpen(): boolean {
    return this.#id !== undefined;
  }

  /** Resolves when the store has passed the first check. After a failed check, the next call repeats it. */
  open(): Promise<void> {
    if (this.isOpen) return Promise.resolve();
    this.#opening ??= this.#watchRecords(async () => {
      this.#id = await this.#options.first();
    }).finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /**
   * Resolves if the records' store is still the one that was opened, by a check that starts after this call. Concurrent calls
   * share checks. Rejects with `store_unavailable` for another store, otherwise like the store.
   */
  confirm(): Promise<void> {
    return this.isOpen ? this.#confirmRecords() : this.open();
  }

  /** Like `confirm`, for the stores of originals and renditions. Renditions need not answer, and get their mark again. */
  async confirmBytes(): Promise<void> {
    if (!this.isOpen) await this.open();
    if (this.#marks === null || this.#marks.length > 0) await this.#confirmMarks();
  }

  /** Like `confirm`, for the stores of all roles. */
  async confirmAll(): Promise<void> {
    if (!this.isOpen) await this.open();
    await Promise.all([this.#confirmRecords(), this.confirmBytes()]);
  }

  async #checkIdentity(): Promise<void> {
    const { records } = this.#options.stores;
    const passed = this.#passed;
    // Cheaper than a read, for a check before each upload.
    if (passed !== null && hasRevisionProbe(records) && records.isCurrent(IDENTITY_KEY, passed)) return;
    this.#passed = null;
    const held = await readIdentity(records);
    const identity = held?.identity ?? null;
    if (identity !== null) requireKnownFormat(identity);
    // A service has written the identity since this process opened a store without one.
    if (this.#id === null) this.#id = identity?.id ?? null;
    else if (identity === null) throw new StoreRefused(EMPTY);
    else if (identity.id !== this.#id) throw new StoreRefused(OTHER);
    this.#passed = held?.revision ?? null;
  }

  async #checkMarks(): Promise<void> {
    const { stores, watched, refuseRenditions } = this.#options;
    this.#marks ??= (await watched()).map((role) => ({ role, store: stores[role], passed: null, dueAt: 0 }));
    const id = this.#id ?? null;
    if (id === null) return;
    await Promise.all(
      this.#marks.map((mark) =>
        mark.role === "originals" ? checkMark(mark, id) : checkRenditions(mark, id, refuseRenditions),
      ),
    );
  }
}

/** Shares the runs of a check among concurrent calls. Each gets a run that starts after its call. */
function shared(check: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let waiting: Promise<void> | null = null;
  function start(): Promise<void> {
    running = check().finally(() => {
      running = null;
    });
    return running;
  }
  return () => {
    if (running === null) return start();
    // The running check may have started before the caller's observation.
    waiting ??= running
      .catch(() => undefined) // Its own callers get the error.
      .then(() => {
        waiting = null;
        return start();
      });
    return waiting;
  };
}

/** Reports the first refusal of a check, and its end. */
function createWatch(onError: FailureListener | null, log: Logger) {
  /** Message of the last report, while it is still true. */
  let trouble: string | null = null;
  return async (check: () => Promise<void>): Promise<void> => {
    try {
      await check();
    } catch (error) {
      if (error instanceof StoreRefused && onError !== null) {
        if (trouble !== error.message) onError(error);
        trouble = error.message;
        markReported(error);
      }
      throw error;
    }
    if (trouble !== null) log.info({}, "the storage is back");
    trouble = null;
  };
}

/** A mark to be checked. */
interface StoreMark {
  role: BytesRole;
  store: BlobStore;
  /** Revision of the mark that passed the last check. */
  passed: string | null;
  /** No check before this time, by the monotonic clock. */
  dueAt: number;
}

/** Renditions that do not answer delay one call by this time, in milliseconds, and are not asked again for {@link BLIND_MS}. */
const PATIENCE_MS = 500;
const BLIND_MS = 30_000;

/** Refuses the renditions of another storage only: images are served without renditions. */
async function checkRenditions(
  mark: StoreMark,
  id: string,
  refuse: StoreGuardOptions["refuseRenditions"],
): Promise<void> {
  if (performance.now() < mark.dueAt) return;
  mark.dueAt = performance.now() + BLIND_MS;
  const checking = checkMark(mark, id).then(
    () => {
      mark.dueAt = 0;
      refuse?.(null);
    },
    (error) => {
      if (!(error instanceof StoreRefused)) return;
      mark.dueAt = 0;
      if (refuse === undefined) throw error;
      refuse(error);
    },
  );
  if (await isSettledWithin(checking, PATIENCE_MS)) await checking;
}

async function checkMark(mark: StoreMark, id: string): Promise<void> {
  const { role, store, passed } = mark;
  if (passed !== null && hasRevisionProbe(store) && store.isCurrent(markKeyOf(role), passed)) return;
  mark.passed = null;
  const held = await readMark(store, role);
  if (held !== null && held.id !== id) throw new StoreRefused(othersText(role), role);
  mark.passed = held?.revision ?? null;
  if (held !== null) return;
  if (role === "originals") throw new StoreRefused(unmarkedText(store, null), role);
  await writeMark(store, role, id, null);
}

/** What an {@link Inspection} accepts. Renditions of another storage are for work that removes only what belongs to known images. */
export type AdminGuardOptions = Pick<Inspection, "acceptUnmarked" | "acceptForeignRenditions">;

/**
 * A guard for commands, which have no secret: writes no identity and no mark of originals, and rejects a store changed by a newer
 * release. Stores other than that of the records are checked by `confirmBytes` and `confirmAll` only.
 */
export function createAdminGuard(
  stores: StorageRoles,
  log: Logger,
  accepted: AdminGuardOptions = {},
): StoreGuard {
  const { records } = stores;
  const apart = rolesApart(stores);
  return new StoreGuard({
    stores,
    async first() {
      const held = await readIdentity(records);
      if (held !== null) requireKnownFormat(held.identity);
      return held?.identity.id ?? null;
    },
    async watched() {
      const { held, marks } = await inspectStores(stores, { ...accepted, apart });
      if (held === null && apart.length > 0) throw new StoreRefused(NEVER_OPENED);
      return rolesToWatch(stores, marks.originals !== null);
    },
    ...(accepted.acceptForeignRenditions && { refuseRenditions: () => undefined }),
    onError: null,
    log,
  });
}

/** Nothing proves that these records are those of the originals. */
export const NEVER_OPENED =
  "The records have no identity: no service was started on them, so they do not prove which originals are orphaned. Mount or name the right store of the records; if it is the right one, start the service on it once";
const EMPTY =
  "The storage has become empty: the data that this process was started with is gone. Mount or restore it, or empty the stores of all roles and restart the process";
const OTHER =
  "The storage was replaced by another one while this process was running. Mount the former one, or restart the process to use this one";
