import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { type Operation, type OwnerLimits, reviseTally } from "./revise-tally.ts";
import type { Tally } from "./tally.ts";
import { createTallyEpochs, type HeldTally } from "./tally-epochs.ts";

export type { OwnerLimits } from "./revise-tally.ts";

/** What an owner has, room that is reserved included. */
export interface Usage {
  images: number;
  /** Of the originals together. */
  bytes: number;
}

/**
 * How much every owner has stored: exact with any number of processes on one store. An owner is any well-formed string of 1
 * to 256 characters; another rejects with `host_misuse`. Where processes fight for an owner's tally too long, a change
 * rejects with `overloaded`; also while a tally that was damaged is counted anew for longer than two seconds.
 */
export interface OwnerUsage {
  /**
   * Takes room for an image before it is stored. Rejects with `forbidden` and a message that names the limit when there is
   * not enough. Reserving the same id twice is reserving once.
   */
  reserve(owner: string, id: string, bytes: number, limits: OwnerLimits): Promise<void>;
  /**
   * The image was not stored after all, or its bytes are removed: gives its room back, once however often it is called.
   * Comes before the record stops naming the owner.
   * @param bytes as they were reserved.
   */
  release(owner: string, id: string, bytes: number): Promise<void>;
  /**
   * Tells that an image's record says by now what was last done about it (stored, or released): the note about it may be
   * forgotten, when the next change finds that so. In memory only; what is lost by a crash is found again.
   */
  settle(owner: string, id: string): void;
  usage(owner: string): Promise<Usage>;
  /** Counts an owner's images anew where the tally at this key is in force and cannot be read. */
  repair(key: string): Promise<void>;
}

export interface OwnerUsageOptions {
  store: BlobStore;
  /** The time in Unix milliseconds. */
  now: () => number;
  /** Whether the record of the image exists and still names this owner. */
  isOwned(owner: string, id: string): Promise<boolean>;
  /** Counts what an owner has from the records, in place of a tally that is damaged. @default such a tally stays damaged */
  count?(isOwner: (name: string) => boolean): Promise<Tally>;
  /** Called with each tally that is damaged. @default not called */
  onError?(error: unknown): void;
  /** Changes of an owner's tally after which it moves to another key, see tally-epochs.ts. @default 1000 */
  epochChanges?: number;
}

/** An operation with those who wait for it. */
interface Pending extends Operation {
  resolve(): void;
  reject(reason: unknown): void;
}

/** What this process knows of an owner. May be forgotten at any time. */
interface Account {
  owner: string;
  prefix: string;
  queue: Pending[];
  isBusy: boolean;
  /** As this process last wrote it; somebody else may have changed it. */
  held: HeldTally | null;
  /** Images whose records are said to have followed. */
  settled: Set<string>;
  /** The count from the records that is under way in this process. */
  counting: Promise<void> | null;
}

const MAX_ACCOUNTS = 10_000;
const MAX_BATCH = 128;
const MAX_ATTEMPTS = 100;
const MAX_PAUSE_MS = 50;
const RETRY_AFTER_MS = 2_000;
const EPOCH_CHANGES = 1000;
/** A count that takes longer goes on behind the replies of those who wait for it. */
const COUNT_PATIENCE_MS = 2_000;
const COUNT_RETRY_AFTER_MS = 5_000;

/**
 * The operations on an owner that come while one is under way are made together, with one write; across processes, whoever
 * loses the compare-and-set tries again.
 */
export function createOwnerUsage(options: OwnerUsageOptions): OwnerUsage {
  const epochs = createTallyEpochs(options.store, options.epochChanges ?? EPOCH_CHANGES);
  const accounts = new LRUCache<string, Account>({ max: MAX_ACCOUNTS });

  function accountOf(owner: string): Account {
    const prefix = prefixOf(owner);
    let account = accounts.get(prefix);
    if (account === undefined) {
      account = { owner, prefix, queue: [], isBusy: false, held: null, settled: new Set(), counting: null };
      accounts.set(prefix, account);
    }
    return account;
  }

  async function submit(owner: string, operation: Operation): Promise<void> {
    const account = accountOf(owner);
    await new Promise<void>((resolve, reject) => {
      account.queue.push({ ...operation, resolve, reject });
      if (!account.isBusy) void work(account);
    });
  }

  /** Makes what waits, batch after batch. Never rejects: whoever waits is told. */
  async function work(account: Account): Promise<void> {
    account.isBusy = true;
    while (account.queue.length > 0) {
      const batch = account.queue.splice(0, MAX_BATCH);
      try {
        const refusals = await commit(account, batch);
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

  /** The tally in force; one that is damaged is first counted anew from the records. */
  async function readTally(account: Account): Promise<HeldTally> {
    try {
      return await epochs.read(account.prefix);
    } catch (error) {
      if (!isServiceError(error, "damaged") || options.count === undefined) throw error;
      if (account.counting === null) options.onError?.(error);
    }
    const counting = account.counting ?? replace(account.prefix);
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
    return epochs.read(account.prefix);
  }

  async function replace(prefix: string): Promise<void> {
    const { count } = options;
    if (count === undefined) return;
    await epochs.replaceDamaged(prefix, () => count((name) => hashed(name) === prefix));
  }

  /** @returns per operation, why it is refused, or `null`. */
  async function commit(account: Account, batch: readonly Pending[]): Promise<unknown[]> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const isFresh = account.held === null;
      const held = account.held ?? (await readTally(account));
      account.held = null;
      const settled = new Set([...account.settled].slice(0, MAX_BATCH));
      const { tally, isChanged, refusals } = await reviseTally(held.tally, batch, {
        nowMs: options.now(),
        isOwned: (id) => options.isOwned(account.owner, id),
        settled,
      });
      if (!isChanged) {
        // A write would have proved that nobody changed the tally since; without one it has to be read.
        if (!isFresh) continue;
        for (const id of settled) if (!held.tally.notes.has(id)) account.settled.delete(id);
        return refusals;
      }
      try {
        account.held = await epochs.write(account.prefix, held, tally);
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

  return {
    async reserve(owner, id, bytes, limits) {
      requireWhole("bytes", bytes);
      requireWhole("limits.images", limits.images);
      requireWhole("limits.bytes", limits.bytes);
      await submit(owner, { kind: "reserve", id, bytes, limits });
    },
    async release(owner, id, bytes) {
      requireWhole("bytes", bytes);
      await submit(owner, { kind: "release", id, bytes, limits: {} });
    },
    settle(owner, id) {
      accounts.get(prefixOf(owner))?.settled.add(id);
    },
    async usage(owner) {
      const { tally } = await readTally(accountOf(owner));
      return { images: tally.images, bytes: tally.bytes };
    },
    repair: (key) => replace(key.slice(0, key.lastIndexOf("/") + 1)),
  };
}

function prefixOf(owner: string): string {
  // Half of a surrogate pair would be hashed as any other half is.
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
