import { LRUCache } from "lru-cache";
import { createInTurn } from "../../../async/in-turn.ts";
import { addEntry, hourOf, type UsageEntries, type UsageEntry } from "./usage-entry.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/** Uses and sizes that this process has yet to write to the ledger. A crash loses them. */
export interface UsageNotes {
  /** Notes that a rendition of the image was served. Cheap: each image is noted once an hour. */
  used(id: string): void;
  /** @param bytes Size of all stored renditions of the image. @param addedBytes Size of the one just stored. */
  stored(id: string, bytes: number, addedBytes: number): void;
  /** Notes that the image has no stored renditions any more. */
  removed(id: string): void;
  /** Notes that the image has renditions that the ledger may miss. */
  found(id: string): void;
  /** Writes the notes. After a failure they are kept. */
  write(): Promise<void>;
  /** Writes the notes a last time. */
  close(): Promise<void>;
}

export interface UsageNotesOptions {
  ledger: UsageLedger;
  /** The time in Unix milliseconds. */
  now(): number;
  onError(error: unknown): void;
}

/** Notes are written this time after the first of them. */
const WRITE_AFTER_MS = 5 * 60_000;
/** Images in a batch; a full one is written at once. */
const MAX_BATCH = 4096;
/** Most notes kept while the store fails. */
const MAX_NOTES = 65_536;
const MAX_REMEMBERED_USES = 16_384;

export function createUsageNotes(options: UsageNotesOptions): UsageNotes {
  return new BatchedNotes(options);
}

class BatchedNotes implements UsageNotes {
  readonly #options: UsageNotesOptions;
  readonly #inTurn = createInTurn();
  readonly #usedHours = new LRUCache<string, number>({ max: MAX_REMEMBERED_USES });
  #entries: UsageEntries = new Map();
  #storedBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: UsageNotesOptions) {
    this.#options = options;
  }

  used(id: string): void {
    const usedHour = hourOf(this.#options.now());
    if (this.#usedHours.get(id) === usedHour) return;
    this.#usedHours.set(id, usedHour);
    this.#note(id, { usedHour, bytes: null, measuredMs: 0 });
  }

  stored(id: string, bytes: number, addedBytes: number): void {
    this.#storedBytes += addedBytes;
    const nowMs = this.#options.now();
    const usedHour = hourOf(nowMs);
    this.#usedHours.set(id, usedHour);
    this.#note(id, { usedHour, bytes, measuredMs: nowMs });
  }

  removed(id: string): void {
    this.#usedHours.delete(id);
    this.#note(id, { usedHour: 0, bytes: 0, measuredMs: this.#options.now() });
  }

  found(id: string): void {
    this.#note(id, { usedHour: 0, bytes: null, measuredMs: 0 });
  }

  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#inTurn(() => this.#writeAll());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.write();
    } finally {
      clearTimeout(this.#timer);
    }
  }

  #note(id: string, entry: UsageEntry): void {
    if (this.#isClosed || (this.#entries.size >= MAX_NOTES && !this.#entries.has(id))) return;
    addEntry(this.#entries, id, entry);
    if (this.#entries.size % MAX_BATCH === 0) this.#writeBehind();
    this.#writeLater();
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => this.#writeBehind(), WRITE_AFTER_MS).unref();
  }

  #writeBehind(): void {
    void this.write().catch(this.#options.onError);
  }

  async #writeAll(): Promise<void> {
    if (this.#entries.size === 0) return;
    const batch = this.#entries;
    const batchBytes = this.#storedBytes;
    this.#entries = new Map();
    this.#storedBytes = 0;
    try {
      await this.#options.ledger.writeBatch(batch, batchBytes, hourOf(this.#options.now()));
    } catch (error) {
      for (const [id, entry] of this.#entries) addEntry(batch, id, entry);
      this.#entries = batch;
      this.#storedBytes += batchBytes;
      this.#writeLater();
      throw error;
    }
  }
}
