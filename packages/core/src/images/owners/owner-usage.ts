import { setTimeout as delay } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { hashOfName, type NamedEntry, type NameIndex } from "../../stores/name-index.ts";
import type { Owner } from "../record/image-record.ts";
import { type CheckedLimits, reviseUsage, type UsageChange } from "./revise-usage.ts";
import { type HeldUsage, StoredUsages } from "./stored-usages.ts";
import type { UsageRecord } from "./usage-record.ts";

export type { CheckedLimits, OwnerLimits } from "./revise-usage.ts";

/** The images and bytes of an owner, reservations included. */
export interface Usage {
  images: number;
  /** Total bytes of the originals. */
  bytes: number;
}

/** The parts of a record that its owner's usage needs. */
export interface OwnedImage extends NamedEntry {
  /** `null`: the image counts for no owner. */
  owner: Owner | null;
}

export interface OwnerUsageOptions {
  store: BlobStore;
  /** Prefix of the keys, one segment. @default that of the owners of images */
  prefix?: string;
  /** The time in Unix milliseconds. */
  now: () => number;
  /** Whether the image's record exists and still names this owner. */
  isOwned(owner: string, id: string): Promise<boolean>;
  /** Index of each owner's images. */
  index: Pick<NameIndex, "has" | "remove">;
  /**
   * Counts an owner's images from the records, to replace a damaged or missing usage.
   * @param owner Hash of the owner's name.
   * @param isMissing Whether the usage is missing: then only the images that the index lists are counted.
   * @default a damaged usage stays damaged
   */
  count?(owner: string, isMissing: boolean): Promise<UsageRecord>;
  /** Called with the error of each damaged usage. @default not called */
  onError?(error: unknown): void;
}

/** An operation and its caller. */
interface Pending extends UsageChange {
  resolve(): void;
  reject(reason: unknown): void;
}

/** The state of an owner within this process. May be evicted at any time. */
interface Account {
  name: string;
  /** Hash of the name. */
  owner: string;
  queue: Pending[];
  isBusy: boolean;
  /** The usage as this process last wrote it. Another process may have changed it since. */
  held: HeldUsage | null;
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
/** A recount that takes longer goes on in the background, and its callers are rejected. */
const COUNT_PATIENCE_MS = 2_000;
const COUNT_RETRY_AFTER_MS = 5_000;

/**
 * Usage per owner, exact with any number of processes on one store. An owner is a well-formed string of 1 to 256
 * characters; any other value rejects with `host_misuse`. A change rejects with `overloaded` after too many conflicts
 * with other processes, and if recounting a damaged usage takes longer than 2 s.
 *
 * Operations on an owner that arrive during a write share the next one. A process that loses a compare-and-set retries.
 */
export class OwnerUsage {
  readonly #options: OwnerUsageOptions;
  readonly #stored: StoredUsages;
  readonly #accounts = new LRUCache<string, Account>({ max: MAX_ACCOUNTS });

  constructor(options: OwnerUsageOptions) {
    this.#options = options;
    this.#stored = new StoredUsages(options.store, options.index, options.prefix);
  }

  /**
   * Reserves the bytes of an image before it is stored. Rejects with `forbidden` and a message that names the exceeded
   * limit. Reserving the same id twice counts once.
   */
  async reserve({ id, owner }: OwnedImage, limits: CheckedLimits): Promise<void> {
    if (owner === null) return;
    requireWhole("bytes", owner.bytes);
    requireWhole("limits.images", limits.images);
    requireWhole("limits.bytes", limits.bytes);
    await this.#submit(owner.name, { kind: "reserve", id, bytes: owner.bytes, limits });
  }

  /**
   * Releases the bytes of an image that was not stored, or whose bytes were removed, and removes it from the index of its
   * owner's images. Releasing twice counts once. Call it while the record still names the owner.
   */
  async release(image: OwnedImage): Promise<void> {
    const { id, owner } = image;
    if (owner === null) return;
    requireWhole("bytes", owner.bytes);
    await Promise.all([
      this.#submit(owner.name, { kind: "release", id, bytes: owner.bytes, limits: {} }),
      this.#options.index.remove(owner.name, image),
    ]);
  }

  /**
   * Marks an image's record as consistent with its last change (reserved or released), so that the next change may
   * drop the note about it. In memory only: if a crash loses the mark, a later check replaces it.
   */
  settle({ id, owner }: OwnedImage): void {
    if (owner !== null) this.#accounts.get(hashOf(owner.name))?.settled.add(id);
  }

  async usage(name: string): Promise<Usage> {
    const { images, bytes } = (await this.#read(this.#accountOf(name))).usage;
    return { images, bytes };
  }

  /** Recounts an owner's images if the usage at this key is damaged. */
  repair(key: string): Promise<void> {
    return this.#countAgain(key.slice(key.indexOf("/") + 1));
  }

  #accountOf(name: string): Account {
    const owner = hashOf(name);
    let account = this.#accounts.get(owner);
    if (account === undefined) {
      account = { name, owner, queue: [], isBusy: false, held: null, settled: new Set(), counting: null };
      this.#accounts.set(owner, account);
    }
    return account;
  }

  async #submit(name: string, operation: UsageChange): Promise<void> {
    const account = this.#accountOf(name);
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
      const held = account.held ?? (await this.#read(account));
      account.held = null;
      const settled = new Set([...account.settled].slice(0, MAX_BATCH));
      const { usage, isChanged, refusals } = await reviseUsage(held.usage, batch, {
        nowMs: now(),
        isOwned: (id) => isOwned(account.name, id),
        settled,
      });
      if (!isChanged) {
        // A write would have proved that the usage is current. Without a write it must be read again.
        if (!isFresh) continue;
        for (const id of settled) if (!held.usage.notes.has(id)) account.settled.delete(id);
        return refusals;
      }
      try {
        account.held = await this.#stored.write(account.owner, held, usage);
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

  /** Reads the current usage. A damaged or missing one is recounted from the records first. */
  async #read(account: Account): Promise<HeldUsage> {
    const { count, onError } = this.#options;
    try {
      const held = await this.#stored.read(account.owner);
      if (!held.isMissing || count === undefined) return held;
    } catch (error) {
      if (!isServiceError(error, "damaged") || count === undefined) throw error;
      if (account.counting === null) onError?.(error);
    }
    const counting = account.counting ?? this.#countAgain(account.owner);
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
    return this.#stored.read(account.owner);
  }

  async #countAgain(owner: string): Promise<void> {
    const { count } = this.#options;
    if (count !== undefined) await this.#stored.recount(owner, (isMissing) => count(owner, isMissing));
  }
}

function hashOf(owner: string): string {
  // All lone surrogates have the same UTF-8 bytes, and so the same hash.
  const isOwner =
    typeof owner === "string" && owner.length >= 1 && owner.length <= 256 && !/\p{Cs}/u.test(owner);
  if (!isOwner)
    throw new ServiceError("host_misuse", "An owner must be a well-formed string of 1 to 256 characters");
  return hashOfName(owner);
}

function requireWhole(name: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return;
  throw new ServiceError("host_misuse", `${name} must be a whole number from 0, not ${value}`);
}
