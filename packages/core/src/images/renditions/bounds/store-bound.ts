import { forEachAtOnce } from "../../../async/for-each-at-once.ts";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { measureImage } from "./image-shelf.ts";
import { addEntry, hourOf, type UsageEntries } from "./usage-entry.ts";
import { type LedgerKeys, type ShardInfo, shardOf, type UsageLedger } from "./usage-ledger.ts";

export interface StoreBoundOptions {
  store: BlobStore;
  ledger: UsageLedger;
  /** Limit for all renditions together in bytes; `null`: no limit. */
  maxBytes: number | null;
  /** Hours that an image keeps its renditions after their last use; `null`: for ever. */
  idleHours: number | null;
  /** Removes the renditions of an image. */
  evict(id: string): Promise<void>;
  /** The time in Unix milliseconds. */
  now(): number;
}

/** Limits of one pass over the ledger. */
export interface PassOptions {
  /** Called before each shard and each image; `false` stops the pass. */
  mayGoOn(): boolean;
  /** Whether to evict idle images, which depends on the clock. */
  isClockTrusted: boolean;
}

/** Batches are merged into their shards when there are this many, or when the oldest is `OLD_HOURS` old. */
const MANY_BATCHES = 32;
const OLD_HOURS = 6;
/** Batches merged in one pass; the others wait for the next. */
const MAX_BATCHES = 64;
/** Images measured in one pass. */
const MAX_MEASURED = 500;
const AT_ONCE = 8;
/** A store over its limit is reduced to this share of it, so that the next pass finds it under the limit. */
const TARGET_SHARE = 0.9;

/**
 * Keeps the renditions of a store within its limits. Removes those of idle images, and, while all together exceed the byte
 * limit, those of the least recently used images. Any number of processes may run it at once. Costs one list of keys if
 * nothing is due. Never touches originals, records and uploads.
 */
export async function keepStoreBound(options: StoreBoundOptions, pass: PassOptions): Promise<void> {
  const { ledger, maxBytes } = options;
  const nowHour = hourOf(options.now());
  const keys = await ledger.keys();
  const isOver = maxBytes !== null && keys.bytes > maxBytes;
  const idleBefore = pass.isClockTrusted && options.idleHours !== null ? nowHour - options.idleHours : 0;
  const isIdle = [...keys.shards.values()].flat().some(({ oldestHour }) => oldestHour < idleBefore);
  const areDue = keys.batches.length >= MANY_BATCHES || nowHour - keys.oldestBatchHour >= OLD_HOURS;
  const isUnsettled = [...keys.shards.values()].some(
    (shards) => shards.length > 1 || shards.some(({ unmeasured }) => unmeasured > 0),
  );
  if (!isOver && !isIdle && !areDue && !isUnsettled) return;
  const settled = await settle(options, keys, pass);
  if (!pass.mayGoOn()) return;
  const total = [...settled.values()].reduce((bytes, shard) => bytes + shard.bytes, 0);
  const surplus = maxBytes !== null && total > maxBytes ? total - maxBytes * TARGET_SHARE : 0;
  const limit = surplus > 0 ? await limitOf(ledger, settled, surplus) : NO_LIMIT;
  await evictTo(options, settled, { ...limit, idleBefore }, pass);
}

/** Merges the batches into their shards, so that each shard is one blob, and measures unmeasured images. */
async function settle(
  options: StoreBoundOptions,
  { shards, batches }: LedgerKeys,
  { mayGoOn }: PassOptions,
): Promise<Map<string, ShardInfo>> {
  const { ledger } = options;
  const read = batches.slice(0, MAX_BATCHES);
  const news = new Map<string, UsageEntries>();
  for (const [id, entry] of await ledger.read(read)) {
    const entries: UsageEntries = news.get(shardOf(id)) ?? new Map();
    addEntry(entries, id, entry);
    news.set(shardOf(id), entries);
  }
  const settled = new Map<string, ShardInfo>();
  let toMeasure = MAX_MEASURED;
  for (const name of new Set([...shards.keys(), ...news.keys()])) {
    const infos = shards.get(name) ?? [];
    const [only] = infos;
    const added = news.get(name);
    const isWhole = infos.length === 1 && only !== undefined && only.unmeasured === 0;
    if (added === undefined && isWhole) {
      settled.set(name, only);
      continue;
    }
    if (!mayGoOn()) return settled;
    const entries = await ledger.read(infos.map(({ key }) => key));
    for (const [id, entry] of added ?? []) addEntry(entries, id, entry);
    toMeasure -= await measure(options, entries, toMeasure);
    for (const [id, { bytes }] of entries) if (bytes === 0) entries.delete(id);
    const info = await ledger.writeShard(name, entries, infos);
    if (info !== null) settled.set(name, info);
  }
  await ledger.remove(read);
  return settled;
}

/** @returns the number of images measured. */
async function measure(
  { store, now }: StoreBoundOptions,
  entries: UsageEntries,
  limit: number,
): Promise<number> {
  const unknown = [...entries].filter(([, { bytes }]) => bytes === null);
  const nowMs = now();
  // An image found by the search counts as used now, so it has its full time before it is idle.
  for (const [id, entry] of unknown) {
    if (entry.usedHour === 0) entries.set(id, { ...entry, usedHour: hourOf(nowMs) });
  }
  const ids = unknown.slice(0, limit).map(([id]) => id);
  await forEachAtOnce(each(ids), AT_ONCE, async (id) => {
    const sizes = await measureImage(store, id);
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    addEntry(entries, id, { usedHour: 0, bytes, measuredMs: nowMs });
  });
  return ids.length;
}

/** The images to evict so that the store is within its limit. */
interface Limit {
  /** Images last used before this hour are evicted. */
  usedBefore: number;
  /** Bytes to evict from images last used in that hour. */
  bytesOfHour: number;
}

const NO_LIMIT: Limit = { usedBefore: 0, bytesOfHour: 0 };

/** The limit that evicts images with `surplus` bytes together. */
async function limitOf(
  ledger: UsageLedger,
  shards: ReadonlyMap<string, ShardInfo>,
  surplus: number,
): Promise<Limit> {
  const bytesOf = new Map<number, number>();
  for (const { key } of shards.values()) {
    for (const { usedHour, bytes } of (await ledger.read([key])).values()) {
      bytesOf.set(usedHour, (bytesOf.get(usedHour) ?? 0) + (bytes ?? 0));
    }
  }
  let left = surplus;
  for (const [usedBefore, bytes] of [...bytesOf].sort(([a], [b]) => a - b)) {
    if (left <= bytes) return { usedBefore, bytesOfHour: left };
    left -= bytes;
  }
  return { usedBefore: Number.MAX_SAFE_INTEGER, bytesOfHour: 0 };
}

async function evictTo(
  { ledger, evict }: StoreBoundOptions,
  shards: ReadonlyMap<string, ShardInfo>,
  { idleBefore, usedBefore, bytesOfHour }: Limit & { idleBefore: number },
  { mayGoOn }: PassOptions,
): Promise<void> {
  let left = bytesOfHour;
  for (const [name, info] of shards) {
    if (info.oldestHour > Math.max(idleBefore - 1, usedBefore)) continue;
    const entries = await ledger.read([info.key]);
    const victims = [...entries].filter(([, { usedHour, bytes }]) => {
      if (usedHour < idleBefore || usedHour < usedBefore) return true;
      if (usedHour > usedBefore || left <= 0) return false;
      left -= bytes ?? 0;
      return true;
    });
    if (victims.length === 0) continue;
    await forEachAtOnce(each(victims), AT_ONCE, async ([id]) => {
      if (!mayGoOn()) return;
      await evict(id);
      entries.delete(id);
    });
    await ledger.writeShard(name, entries, [info]);
    if (!mayGoOn()) return;
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
