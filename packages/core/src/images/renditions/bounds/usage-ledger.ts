import { randomBytes } from "node:crypto";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { isServiceError } from "../../../errors.ts";
import { readAll } from "../../../stores/read-all.ts";
import { addEntry, decodeEntries, encodeEntries, type UsageEntries } from "./usage-entry.ts";

/*
 * The ledger says of each image how many bytes of renditions are stored, and when one was last used. It lies in the store of
 * the renditions, and needs no conditional writes: blobs of the ledger are created and deleted, and never replaced.
 *
 * A process writes what it noted as a batch, `rendition-usage/notes/<bytes>.<hour>.<random>`, with the bytes that it has stored
 * since the one before. A sweep adds the batches to shards, `rendition-usage/<shard>/<bytes>.<oldest hour>.<unmeasured>.<random>`, whose
 * names tell their sums: one list of keys says how much all images have together.
 *
 * A new shard is written before its predecessor and the batches are deleted. So a crash leaves something twice, and nothing
 * is lost; two processes that do the same leave two shards, which the next sweep adds up. Adding is idempotent.
 */

/** First segment of the ledger's keys. */
export const USAGE_PREFIX = "rendition-usage";
const ID_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const SHARD = /^[0-3][0-9a-f]$/;
const NAME = /^([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)\.[0-9a-f]+$/;
const BATCH_NAME = /^([0-9a-z]+)\.([0-9a-z]+)\.[0-9a-f]+$/;

/** One shard as its name tells it. */
export interface ShardInfo {
  key: string;
  bytes: number;
  /** Hour of the use that is longest ago, counted since 1970. */
  oldestHour: number;
  /** Images whose bytes are not known. */
  unmeasured: number;
}

/** The keys of a ledger. */
export interface LedgerKeys {
  /** Those of one shard by its name; several where two processes wrote at once. */
  shards: Map<string, ShardInfo[]>;
  /** Batches of notes that are in no shard yet. */
  batches: string[];
  /** When the oldest of them was written, in hours since 1970; Infinity without any. */
  oldestBatchHour: number;
  /** Bytes of the shards, and those that the batches add at most. */
  bytes: number;
}

export interface UsageLedger {
  keys(): Promise<LedgerKeys>;
  /** What the blobs at these keys say together; one that is gone by now says nothing. A damaged one is deleted. */
  read(keys: readonly string[]): Promise<UsageEntries>;
  /** @param storedBytes bytes that were stored since the batch before. @param hour now, counted since 1970. */
  writeBatch(entries: UsageEntries, storedBytes: number, hour: number): Promise<void>;
  /** Writes a shard in place of its predecessors. `null`: without entries there is none. */
  writeShard(
    name: string,
    entries: UsageEntries,
    predecessors: readonly ShardInfo[],
  ): Promise<ShardInfo | null>;
  remove(keys: readonly string[]): Promise<void>;
}

export function createUsageLedger(store: BlobStore): UsageLedger {
  async function remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) await store.delete(key);
  }

  return {
    async keys() {
      const found: LedgerKeys = {
        shards: new Map(),
        batches: [],
        oldestBatchHour: Number.POSITIVE_INFINITY,
        bytes: 0,
      };
      let cursor: string | undefined;
      do {
        const page = await store.list(`${USAGE_PREFIX}/`, cursor === undefined ? {} : { cursor });
        for (const key of page.keys) addKey(found, key);
        cursor = page.cursor;
      } while (cursor !== undefined);
      return found;
    },

    async read(keys) {
      const entries: UsageEntries = new Map();
      for (const key of keys) {
        const blob = await store.get(key);
        if (blob === null) continue;
        try {
          const found = decodeEntries(await readAll(blob.body), key);
          for (const [id, entry] of found) addEntry(entries, id, entry);
        } catch (error) {
          if (!isServiceError(error, "damaged")) throw error;
          // Its images are found again when they are read, and by the next search through the store.
          await store.delete(key);
        }
      }
      return entries;
    },

    async writeBatch(entries, storedBytes, hour) {
      const key = `${USAGE_PREFIX}/notes/${storedBytes.toString(36)}.${hour.toString(36)}.${randomName()}`;
      await store.put(key, encodeEntries(entries));
    },

    async writeShard(name, entries, predecessors) {
      const info = entries.size === 0 ? null : shardInfo(name, entries);
      if (info !== null) await store.put(info.key, encodeEntries(entries));
      await remove(predecessors.map(({ key }) => key));
      return info;
    },

    remove,
  };
}

/** The shard of an image's entry, one of 64: by the first character of its ID, which is random. */
export function shardOf(id: string): string {
  // As a number: some file systems do not tell "a" from "A".
  return Math.max(0, ID_DIGITS.indexOf(id.charAt(0)))
    .toString(16)
    .padStart(2, "0");
}

function addKey(found: LedgerKeys, key: string): void {
  const [, place = "", name = ""] = key.split("/");
  if (place === "notes") {
    const [, stored, hour] = BATCH_NAME.exec(name) ?? [];
    if (stored === undefined || hour === undefined) return;
    found.batches.push(key);
    found.oldestBatchHour = Math.min(found.oldestBatchHour, Number.parseInt(hour, 36));
    found.bytes += Number.parseInt(stored, 36);
    return;
  }
  const [, bytes, oldest, unmeasured] = NAME.exec(name) ?? [];
  if (!SHARD.test(place) || bytes === undefined || oldest === undefined || unmeasured === undefined) return;
  const info = {
    key,
    bytes: Number.parseInt(bytes, 36),
    oldestHour: Number.parseInt(oldest, 36),
    unmeasured: Number.parseInt(unmeasured, 36),
  };
  found.shards.set(place, [...(found.shards.get(place) ?? []), info]);
  found.bytes += info.bytes;
}

/** A shard with a new key. */
function shardInfo(name: string, entries: UsageEntries): ShardInfo {
  let oldestHour = Number.MAX_SAFE_INTEGER;
  let bytes = 0;
  let unmeasured = 0;
  for (const entry of entries.values()) {
    oldestHour = Math.min(oldestHour, entry.usedHour);
    bytes += entry.bytes ?? 0;
    if (entry.bytes === null) unmeasured++;
  }
  const numbers = [bytes, oldestHour, unmeasured].map((number) => number.toString(36));
  const key = `${USAGE_PREFIX}/${name}/${numbers.join(".")}.${randomName()}`;
  return { key, bytes, oldestHour, unmeasured };
}

function randomName(): string {
  return randomBytes(6).toString("hex");
}
