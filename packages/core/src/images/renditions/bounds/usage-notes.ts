import { LRUCache } from "lru-cache";
import { addEntry, hourOf, type UsageEntries, type UsageEntry } from "./usage-entry.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/** What this process has to tell the ledger. A crash loses it. */
export interface UsageNotes {
  /** A rendition of the image was served. Costs a look-up: a use is noted once an hour. */
  used(id: string): void;
  /** @param bytes all that is stored of the image. @param addedBytes what was just added to it. */
  stored(id: string, bytes: number, addedBytes: number): void;
  /** Nothing is stored of the image any more. */
  removed(id: string): void;
  /** The image has renditions that may be unknown to the ledger. */
  found(id: string): void;
  /** Writes what was noted. What cannot be written stays noted. */
  write(): Promise<void>;
  /** Writes what was noted, and writes no more. */
  close(): Promise<void>;
}

export interface UsageNotesOptions {
  ledger: UsageLedger;
  /** The time in Unix milliseconds. */
  now(): number;
  onError(error: unknown): void;
}

/** Notes are written this long after the first of them. */
const WRITE_AFTER_MS = 5 * 60_000;
/** Images in a batch; a full one is written at once. */
const MAX_BATCH = 4096;
/** Notes that are kept while the store fails. */
const MAX_NOTES = 65_536;
const MAX_REMEMBERED_USES = 16_384;

export function createUsageNotes({ ledger, now, onError }: UsageNotesOptions): UsageNotes {
  let entries: UsageEntries = new Map();
  let storedBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;
  const usedHours = new LRUCache<string, number>({ max: MAX_REMEMBERED_USES });

  function note(id: string, entry: UsageEntry): void {
    if (isClosed || (entries.size >= MAX_NOTES && !entries.has(id))) return;
    addEntry(entries, id, entry);
    if (entries.size % MAX_BATCH === 0) void write().catch(onError);
    timer ??= setTimeout(() => void write().catch(onError), WRITE_AFTER_MS).unref();
  }

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const work = writing.then(writeAll);
    writing = work.catch(() => undefined); // Its caller has the failure.
    return work;
  }

  async function writeAll(): Promise<void> {
    if (entries.size === 0) return;
    const batch = entries;
    const batchBytes = storedBytes;
    entries = new Map();
    storedBytes = 0;
    try {
      await ledger.writeBatch(batch, batchBytes, hourOf(now()));
    } catch (error) {
      for (const [id, entry] of entries) addEntry(batch, id, entry);
      entries = batch;
      storedBytes += batchBytes;
      timer ??= setTimeout(() => void write().catch(onError), WRITE_AFTER_MS).unref();
      throw error;
    }
  }

  return {
    used(id) {
      const usedHour = hourOf(now());
      if (usedHours.get(id) === usedHour) return;
      usedHours.set(id, usedHour);
      note(id, { usedHour, bytes: null, measuredMs: 0 });
    },
    stored(id, bytes, addedBytes) {
      storedBytes += addedBytes;
      const nowMs = now();
      const usedHour = hourOf(nowMs);
      usedHours.set(id, usedHour);
      note(id, { usedHour, bytes, measuredMs: nowMs });
    },
    removed(id) {
      usedHours.delete(id);
      note(id, { usedHour: 0, bytes: 0, measuredMs: now() });
    },
    found: (id) => note(id, { usedHour: 0, bytes: null, measuredMs: 0 }),
    write,
    async close() {
      isClosed = true;
      try {
        await write();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
