import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { type Operation, type OwnerLimits, reviseTally } from "./revise-tally.ts";
import type { Tally } from "./tally.ts";
import { createTallyEpochs, type HeldTally, type TallyEpochs } from "./tally-epochs.ts";

export type { OwnerLimits } from "./revise-tally.ts";

/** The images and bytes of an owner, reservations included. */
export interface Usage {
  images: number;
  /** Total bytes of the originals. */
  bytes: number;
}

/**
 * Usage per owner, exact with any number of processes on one store. An owner is a well-formed string of 1 to 256
 * characters; any other value rejects with `host_misuse`. A change rejects with `overloaded` after too many conflicts
 * with other processes, and if recounting a damaged tally takes longer than 2 s.
 */
export interface OwnerUsage {
  /**
   * Reserves bytes for an image before it is stored. Rejects with `forbidden` and a message that names the exceeded
   * limit. Reserving the same id twice counts once.
   */
  reserve(owner: string, id: string, bytes: number, limits: OwnerLimits): Promise<void>;
  /**
   * Releases the bytes of an image that was not stored, or whose bytes were removed. Releasing twice counts once.
   * Call it while the record still names the owner.
   * @param bytes The bytes that were reserved.
   */
  release(owner: string, id: string, bytes: number): Promise<void>;
  /**
   * Marks an image's record as consistent with its last change (reserved or released), so that the next change may
   * drop the note about it. In memory only: if a crash loses the mark, a later check replaces it.
   */
  settle(owner: string, id: string): void;
  usage(owner: string): Promise<Usage>;
  /** Recounts an owner's images if the tally at this key is the current one and is damaged. */
  repair(key: string): Promise<void>;
}

export interface OwnerUsageOptions {
  store: BlobStore;
  /** The time in Unix milliseconds. */
  now: () => number;
  /** Whether the image's record exists and still names this owner. */
  isOwned(owner: string, id: string): Promise<boolean>;
  /** Counts an owner's images from the records, to replace a damaged tally. @default a damaged tally stays damaged */
  count?(isOwner: (name: string) => boolean): Promise<Tally>;
  /** Called with the error of each damaged tally. @default not called */
  onError?(error: unknown): void;
  /** Changes of an owner's tally after which it moves to another key, see tally-epochs.ts. @default 1000 */
  epochChanges?: number;
}

/** An operation and its caller. */
interface Pending extends Operation {
  resolve(): void;
  reject(reason: unknown): void;
}

/** The state of an owner within this process. May be evicted at any time. */
interface Account {
  owner: string;
  prefix: string;
  queue: Pending[];
  isBusy: boolean;
  /** The tally as this process last wrote it. Another process may have changed it since. */
  held: HeldTally | null;
  /** IDs of images whose records are consistent with their last change. */
  settled: Set<string>;
  /** The recount under way in this process. */
  counting: Promise<void> | null;
}

const MAX_ACCOUNTS = 10_000;
const MAX_BATCH = 128;
const MAX_ATTEMPTS = 100;
const MAX_PAUSE_MS = 50;
const RETRY_AFTER_MS = 2_000;
const EPOCH_CHANGES = 1000;
/** A recount that takes longer goes on in the background, and its callers are rejected. */
const COUNT_PATIENCE_MS = 2_000;
const COUNT_RETRY_AFTER_MS = 5_000;

export function createOwnerUsage(options: OwnerUsageOptions): OwnerUsage {
  return new TalliedUsage(options);
}

/** Operations on an owner that arrive during a write share the next one. A process that loses a compare-and-set retries. */
class TalliedUsage implements OwnerUsage {
  readonly #options: OwnerUsageOptions;
  readonly #epochs: TallyEpochs;
  readonly #accounts = new LRUCache<string, Account>({ max: MAX_ACCOUNTS });

  constructor(options: OwnerUsageOptions) {
    this.#options = options;
    this.#epochs = createTallyEpochs(options.store, options.epochChanges ?? EPOCH_CHANGES);
  }

  async reserve(owner: string, id: string, bytes: number, limits: OwnerLimits): Promise<void> {
    requireWhole("bytes", bytes);
    requireWhole("limits.images", limits.images);
    requireWhole("limits.bytes", limits.bytes);
    await this.#submit(owner, { kind: "reserve", id, bytes, limits });
  }

  async release(owner: string, id: string, bytes: number): Promise<void> {
    requireWhole("bytes", bytes);
    await this.#submit(owner, { kind: "release", id, bytes, limits: {} });
  }

  settle(owner: string, id: string): void {
    this.#accounts.get(prefixOf(owner))?.settled.add(id);
  }

  async usage(owner: string): Promise<Usage> {
    const { tally } = await this.#readTally(this.#accountOf(owner));
    return { images: tally.images, bytes: tally.bytes };
  }

  repair(key: string): Promise<void> {
    return this.#countAgain(key.slice(0, key.lastIndexOf("/") + 1));
  }

  #accountOf(owner: string): Account {
    const prefix = prefixOf(owner);
    let account = this.#accounts.get(prefix);
    if (account === undefined) {
      account = { owner, prefix, queue: [], isBusy: false, held: null, settled: new Set(), counting: null };
      this.#accounts.set(prefix, account);
    }
    return account;
  }

  async #submit(owner: string, operation: Operation): Promise<void> {
    const account = this.#accountOf(owner);
    await new Promise<void>((resolve, reject) => {
      account.queue.push({ ...operation, resolve, reject });
      if (!account.isBusy) void this.#work(account);
    });
  }

  /** Commits the waiting operations, batch after batch. Never rejects: each caller gets its own failure. */
  async #work(account: Account): Promise<void> {
    account.isBusy = true;
    while (account.queue.length > 0) {
      const batch = account.queue.splice(0, MAX_BATCH);
      try {
        const refusals = await this.#commit(account, batch);
        batch.forEach((pending, index) => {
          const refusal = refusals[index] ?? null;
          if (refusal === null) pending.resolve();
          else pending.reject(refusal);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    account.isBusy = false;
  }

  /** Commits one batch. @returns For each operation, the reason for its refusal, or `null`. */
  async #commit(account: Account, batch: readonly Pending[]): Promise<unknown[]> {
    const { now, isOwned } = this.#options;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const isFresh = account.held === null;
      const held = account.held ?? (await this.#readTally(account));
      account.held = null;
      const settled = new Set([...account.settled].slice(0, MAX_BATCH));
      const { tally, isChanged, refusals } = await reviseTally(held.tally, batch, {
        nowMs: now(),
        isOwned: (id) => isOwned(account.owner, id),
        settled,
      });
      if (!isChanged) {
        // A write would have proved that the tally is current. Without a write it must be read again.
        if (!isFresh) continue;
        for (const id of settled) if (!held.tally.notes.has(id)) account.settled.delete(id);
        return refusals;
      }
      try {
        account.held = await this.#epochs.write(account.prefix, held, tally);
        for (const id of settled) account.settled.delete(id);
        return refusals;
      } catch (error) {
        if (!isServiceError(error, "conflict")) throw error;
        if (isFresh) await delay(Math.random() * Math.min(MAX_PAUSE_MS, 2 ** attempt));
      }
    }
    throw new ServiceError("overloaded", "Too many changes of this owner's images at once", {
      retryAfterMs: RETRY_AFTER_MS,
    });
  }

  /** Reads the current tally. A damaged one is recounted from the records first. */
  async #readTally(account: Account): Promise<HeldTally> {
    const { count, onError } = this.#options;
    try {
      return await this.#epochs.read(account.prefix);
    } catch (error) {
      if (!isServiceError(error, "damaged") || count === undefined) throw error;
      if (account.counting === null) onError?.(error);
    }
    const counting = account.counting ?? this.#countAgain(account.prefix);
    account.counting = counting;
    const forget = () => {
      if (account.counting === counting) account.counting = null;
    };
    void counting.then(forget, forget);
    const isSettled = await isSettledWithin(counting, COUNT_PATIENCE_MS);
    if (!isSettled) {
      throw new ServiceError("overloaded", "The images of this owner are being counted", {
        retryAfterMs: COUNT_RETRY_AFTER_MS,
      });
    }
    await counting;
    return this.#epochs.read(account.prefix);
  }

  async #countAgain(prefix: string): Promise<void> {
    const { count } = this.#options;
    if (count === undefined) return;
    await this.#epochs.replaceDamaged(prefix, () => count((name) => hashed(name) === prefix));
  }
}

function prefixOf(owner: string): string {
  // All lone surrogates have the same UTF-8 bytes, and so the same hash.
  const isOwner =
    typeof owner === "string" && owner.length >= 1 && owner.length <= 256 && !/\p{Cs}/u.test(owner);
  if (!isOwner)
    throw new ServiceError("host_misuse", "An owner must be a well-formed string of 1 to 256 characters");
  return hashed(owner);
}

function hashed(owner: string): string {
  return `owners/${createHash("sha256").update(owner).digest("hex")}/`;
}

function requireWhole(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return;
  throw new ServiceError("host_misuse", `${name} must be a whole number from 0, not ${value}`);
}
