import { LRUCache } from "lru-cache";
import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { StorageRoles } from "../../contracts/blob-store.ts";
import type { DueEntry } from "../../contracts/due-index.ts";
import { createDueList, type DueList } from "../../stores/due-list.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { IDLE_LIST, isNearlyFull, removeMade, storedKeys } from "./remove-stored.ts";
import { type FoundBlob, findRendition, type RenditionTarget } from "./rendition-bytes.ts";
import { type NotedFailure, type Notes, RenditionNotes } from "./rendition-notes.ts";

export interface RenditionCacheOptions extends Pick<StorageRoles, "records" | "renditions"> {
  /** The record of an image; `null`: there is none, or the image has ended. */
  loadLiving(id: string): Promise<ImageRecord | null>;
  /** Days that an image keeps its renditions after their last use. @default 30 */
  idleDays?: number | undefined;
  /** The time in Unix milliseconds. */
  now(): number;
  /** Receives errors of background work. */
  onError(error: unknown): void;
}

/** Most blobs stored for one image. */
const MAX_ENTRIES = 64;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A last use is written at most once in this part of the idle time. */
const USE_PARTS = 4;
const IDLE_DAYS = 30;
/** Keys and images whose last use this process remembers. */
const MAX_USES = 16_384;
/** Idle images per batch, and removed at once. */
const BATCH = 200;
const AT_ONCE = 4;
/** Delay before a failed image is retried, so that it does not block the images behind it. */
const POSTPONE_MS = 5 * 60_000;

/**
 * The stored renditions, within two limits: the number per image, kept at each write, and the time since their last use, kept by
 * sweeps. An evicted rendition is rendered again on request.
 *
 * An image has an entry in a due list from before its first rendition is stored until all are removed. The entry is due when the image
 * is idle or expires, whichever is earlier, and moves on if it was used.
 */
export class RenditionCache {
  readonly notes: RenditionNotes;
  readonly #options: RenditionCacheOptions;
  readonly #idle: DueList;
  readonly #idleMs: number;
  /** Time of the last use, by key. */
  readonly #used = new LRUCache<string, number>({ max: MAX_USES });
  /** Time when this process last noted or confirmed a use, by image. */
  readonly #noted = new LRUCache<string, number>({ max: MAX_USES });
  readonly #pending = new Set<Promise<void>>();

  constructor(options: RenditionCacheOptions) {
    const { records, idleDays = IDLE_DAYS, now } = options;
    this.#options = options;
    this.notes = new RenditionNotes(options, now);
    this.#idle = createDueList(records, IDLE_LIST);
    this.#idleMs = idleDays * DAY_MS;
  }

  /** Notes that a rendition was served, from memory, the store or a render. Cheap: writes once in a quarter of the idle time. */
  used(image: ImageRecord, key: string): void {
    const now = this.#options.now();
    this.#used.set(key, now);
    if (now - (this.#noted.get(image.id) ?? 0) < this.#idleMs / USE_PARTS) return;
    this.#noted.set(image.id, now);
    const noting = this.#noteUse(image)
      .catch(this.#options.onError)
      .finally(() => this.#pending.delete(noting));
    this.#pending.add(noting);
  }

  /** Asks the store only for what the notes name, and corrects notes of a rendition that is not there. */
  async find(target: RenditionTarget, signal: AbortSignal): Promise<FoundBlob | null> {
    const { record, key } = target;
    const isNoted = await this.notes.isNoted(record, key);
    if (isNoted === false) return null;
    const found = await findRendition(this.#options, target, signal).catch((error) => {
      signal.throwIfAborted();
      this.#options.onError(error);
    });
    if (found === undefined) return null;
    if (found !== null || isNoted === null) return found;
    const corrected = this.notes.change(record, (notes) => {
      return { ...notes, stored: notes.stored?.filter((each) => each !== key) ?? null };
    });
    // If that fails, the next read corrects them.
    await corrected.catch(this.#options.onError);
    return null;
  }

  /** Stores a blob derived from an image, unless the disk is nearly full, and evicts others. */
  async store(image: ImageRecord, key: string, bytes: Uint8Array): Promise<void> {
    const { renditions, onError } = this.#options;
    if (await isNearlyFull(renditions)) return;
    const { idleAt: known } = await this.notes.latest(image);
    const added = known === null ? await this.#addIdle(image) : null;
    await renditions.put(key, bytes, { mayBeLost: true });
    this.#used.set(key, this.#options.now());
    const noting = this.notes.change(image, async (notes) => {
      // Another process may have removed the entry.
      const idleAt = notes.idleAt ?? added ?? (await this.#addIdle(image));
      const stored = await this.#evictFor(image, key, notes);
      const used = this.#withUse(notes, idleAt);
      return this.notes.areStoredNoted ? { ...used, stored } : used;
    });
    // Without its note, the rendition is rendered again. It is removed with its image, or when that is idle, all the same.
    await noting.catch(onError);
    this.#noted.set(image.id, this.#options.now());
    if (await this.#removeNotesIfEnded(image)) await renditions.delete(key);
  }

  /** Notes a failure that was caused by the picture itself. */
  async noteFailure(image: ImageRecord, failure: NotedFailure): Promise<void> {
    const { rendition, build } = failure;
    await this.notes.change(image, (notes) => {
      const others = notes.failures.filter((each) => each.rendition !== rendition || each.build !== build);
      return { ...notes, failures: [...others, failure] };
    });
    await this.#removeNotesIfEnded(image);
  }

  /** Removes the renditions of idle images. @param mayGoOn `false` stops the sweep. */
  async sweep(mayGoOn: () => boolean): Promise<void> {
    for (let isFull = true; isFull && mayGoOn(); ) {
      const entries = await this.#idle.due(this.#options.now(), BATCH);
      isFull = entries.length === BATCH;
      await forEachAtOnce(entries, AT_ONCE, async (entry) => {
        if (!mayGoOn()) return;
        await this.#sweepEntry(entry).catch((error) => this.#postpone(entry, error));
      });
    }
  }

  /** Waits until the noted uses are written. */
  async close(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #sweepEntry(entry: DueEntry): Promise<void> {
    const { id } = entry;
    const record = await this.#options.loadLiving(id);
    if (record === null) {
      // Its store may have failed when the image ended.
      await removeMade(this.#options.renditions, id);
      return this.#idle.remove(entry);
    }
    const { usedAt } = await this.notes.read(record);
    if (usedAt === null) {
      // Stored by a migration, or by a process that crashed. None: another sweep was faster.
      const { keys } = await this.#options.renditions.list(keyOf.rendition(id, ""), { limit: 1 });
      if (keys.length > 0) await this.#noteUse(record);
    } else if (await this.#endIdle(record)) {
      await removeMade(this.#options.renditions, id);
      await this.notes.remove(id);
      this.#noted.delete(id);
    }
    await this.#idle.remove(entry);
  }

  /**
   * Notes that an idle image has no due entry, or adds its next one. The change is a compare-and-set: a process that stores a
   * rendition meanwhile adds an entry itself.
   * @returns whether the image is idle.
   */
  async #endIdle(image: ImageRecord): Promise<boolean> {
    let isIdle = false;
    await this.notes.change(image, async (notes) => {
      // A use that this process could not write counts.
      const lastUse = Math.max(notes.usedAt ?? 0, this.#noted.peek(image.id) ?? 0);
      isIdle = notes.usedAt !== null && lastUse + this.#idleMs <= this.#options.now();
      // Another sweep has removed everything.
      if (notes.usedAt === null) return notes;
      return isIdle
        ? { ...notes, stored: notes.stored && [], idleAt: null }
        : { ...notes, idleAt: await this.#addIdle(image, lastUse) };
    });
    return isIdle;
  }

  async #postpone(entry: DueEntry, error: unknown): Promise<void> {
    this.#options.onError(error);
    await this.#idle.add({ id: entry.id, dueMs: this.#options.now() + POSTPONE_MS });
    await this.#idle.remove(entry);
  }

  async #noteUse(image: ImageRecord): Promise<void> {
    let isChanged = false;
    await this.notes.change(image, async (notes) => {
      const edited = this.#withUse(notes, notes.idleAt ?? (await this.#addIdle(image)));
      isChanged = edited !== notes;
      return edited;
    });
    if (isChanged) await this.#removeNotesIfEnded(image);
  }

  /** The notes of an image that is used now. The same object if they say so already, at most a quarter of the idle time ago. */
  #withUse(notes: Notes, idleAt: number | null): Notes {
    const now = this.#options.now();
    const isNoted = notes.usedAt !== null && now - notes.usedAt < this.#idleMs / USE_PARTS;
    const usedAt = isNoted ? notes.usedAt : now;
    return notes.usedAt === usedAt && notes.idleAt === idleAt ? notes : { ...notes, usedAt, idleAt };
  }

  /** Adds a due entry, rounded up to the hour, so that concurrent writers add the same. @returns its time. */
  async #addIdle({ id, expiresAt }: ImageRecord, usedAt = this.#options.now()): Promise<number> {
    const end = Math.min(usedAt + this.#idleMs, expiresAt ?? Number.POSITIVE_INFINITY);
    const dueMs = (Math.floor(Math.max(end, this.#options.now()) / HOUR_MS) + 1) * HOUR_MS;
    await this.#idle.add({ id, dueMs });
    return dueMs;
  }

  /** Deletes the least recently used blobs beyond the limit. @returns the keys of all that are left, the new one last. */
  async #evictFor({ id }: ImageRecord, key: string, { stored }: Notes): Promise<string[]> {
    const { renditions } = this.#options;
    const noted = this.notes.areStoredNoted ? stored : null;
    const others = (noted ?? (await storedKeys(renditions, id))).filter((each) => each !== key);
    const lastUse = (each: string) => this.#used.peek(each) ?? 0;
    const byUse = [...others].sort((one, other) => lastUse(one) - lastUse(other));
    const victims = byUse.slice(0, Math.max(0, others.length + 1 - MAX_ENTRIES));
    for (const victim of victims) await renditions.delete(victim);
    return [...others.filter((each) => !victims.includes(each)), key];
  }

  /** Removes the notes and the entry of an image that ended while they were written: no sweep would. @returns whether it has ended. */
  async #removeNotesIfEnded(image: ImageRecord): Promise<boolean> {
    const { id } = image;
    if ((await this.#options.loadLiving(id)) !== null) return false;
    const { idleAt } = await this.notes.latest(image);
    await this.notes.remove(id);
    if (idleAt !== null) await this.#idle.remove({ id, dueMs: idleAt });
    return true;
  }
}
