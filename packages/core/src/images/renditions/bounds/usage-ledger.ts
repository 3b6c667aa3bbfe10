import { randomBytes } from "node:crypto";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { isServiceError } from "../../../errors.ts";
import { readAll } from "../../../stores/read-all.ts";
import { addEntry, decodeEntries, encodeEntries, type UsageEntries } from "./usage-entry.ts";

/*
 * The ledger records for each image the bytes of its stored renditions and the time of their last use. It lies in the store of
 * the renditions and needs no conditional writes: its blobs are created and deleted, never replaced.
 *
 * A process writes its notes as a batch, `rendition-usage/notes/<bytes>.<hour>.<random>`, with the bytes that it stored
 * since its last batch. A sweep merges the batches into shards, `rendition-usage/<shard>/<bytes>.<oldest hour>.<unmeasured>.<random>`, whose
 * names contain their sums: one list of keys gives the total of all images.
 *
 * A new shard is written before its predecessor and the batches are deleted, so a crash duplicates entries but loses none.
 * Two processes that merge at once leave two shards, which the next sweep merges. Merging is idempotent.
 */

/** First segment of the ledger's keys. */
export const USAGE_PREFIX = "rendition-usage";
const ID_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const SHARD = /^[0-3][0-9a-f]$/;
const NAME = /^([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)\.[0-9a-f]+$/;
const BATCH_NAME = /^([0-9a-z]+)\.([0-9a-z]+)\.[0-9a-f]+$/;

/** A shard, as described by its name. */
export interface ShardInfo {
  key: string;
  bytes: number;
  /** Hour of the oldest last use, in hours since 1970. */
  oldestHour: number;
  /** Number of images whose bytes are unknown. */
  unmeasured: number;
}

/** The keys of a ledger. */
export interface LedgerKeys {
  /** Keys by the name of the shard; several if two processes wrote at once. */
  shards: Map<string, ShardInfo[]>;
  /** Batches that are not merged into a shard yet. */
  batches: string[];
  /** Hour of the oldest batch, in hours since 1970; Infinity without batches. */
  oldestBatchHour: number;
  /** Bytes of the shards, plus the most that the batches can add. */
  bytes: number;
}

export interface UsageLedger {
  keys(): Promise<LedgerKeys>;
  /** The merged entries of the blobs at these keys. Skips missing blobs, and deletes damaged ones. */
  read(keys: readonly string[]): Promise<UsageEntries>;
  /** @param storedBytes Bytes stored since the last batch. @param hour The time in hours since 1970. */
  writeBatch(entries: UsageEntries, storedBytes: number, hour: number): Promise<void>;
  /** Writes a shard and removes its predecessors. `null`: there are no entries, so nothing is written. */
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
          // Its images are noted again when they are read, and by the next search of the store.
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

/** The shard of an image, one of 64: the first character of its ID, which is random. */
export function shardOf(id: string): string {
  // As a number, since some file systems ignore case.
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

/** Describes a shard under a new key. */
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
