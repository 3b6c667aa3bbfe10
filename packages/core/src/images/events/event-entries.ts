import { LRUCache } from "lru-cache";
import { type DueEntry, MAX_DUE_MS } from "../../contracts/due-index.ts";
import type { DueList } from "../../stores/due-list.ts";
import { ID_LENGTH } from "../record/image-record.ts";

/** After this time without a write, another node delivers. Longer than one delivery takes. */
export const LEASE_MS = 30_000;
/** A write that takes longer is not expected. An entry that is found without events is moved to this age, then removed. */
export const ORPHAN_MS = 15 * 60_000;
const MAX_COUNTED = 1000;

interface KnownEntry {
  entry: DueEntry;
  added: Promise<void>;
}

/** The image and the time of the event that an entry names. */
export function parseEntry({ id }: DueEntry): { id: string; at: number } {
  return { id: id.slice(0, ID_LENGTH), at: Number.parseInt(id.slice(ID_LENGTH + 1), 36) };
}

/** Events that wait for their delivery. */
export interface EventBacklog {
  /** Images with undelivered events, at most 1000. */
  waiting: number;
  /** When the oldest of these events happened, in Unix milliseconds; `null`: none waits. */
  oldestAt: number | null;
}

/** Counts the images with undelivered events. An entry that has just been added may belong to a write under way. */
export async function countBacklog(due: DueList, nowMs: number): Promise<EventBacklog> {
  const entries = await due.due(Number.POSITIVE_INFINITY, MAX_COUNTED);
  const events = entries
    .map((entry) => ({ ...parseEntry(entry), dueMs: entry.dueMs }))
    .filter(({ at, dueMs }) => nowMs - at > LEASE_MS && dueMs !== at + ORPHAN_MS);
  const oldestAt = events.reduce((oldest, { at }) => Math.min(oldest, at), Number.POSITIVE_INFINITY);
  const waiting = new Set(events.map(({ id }) => id)).size;
  return { waiting, oldestAt: waiting === 0 ? null : oldestAt };
}

/** The due entries of images with undelivered events. The ID of an entry is that of the image, `_`, and the time of the event. */
export class EventEntries {
  readonly #due: DueList;
  readonly #now: () => number;
  /** Entries that this process added or found, by image. The poll finds an entry that is forgotten here. */
  readonly #known = new LRUCache<string, KnownEntry[]>({ max: 10_000 });

  constructor(due: DueList, now: () => number) {
    this.#due = due;
    this.#now = now;
  }

  /** Lets other nodes find the events of a record that is written next. A writer may call it early, beside other writes. */
  async announce(id: string): Promise<void> {
    const now = this.#now();
    const fresh = this.#known.get(id)?.find(({ entry }) => {
      const isRecent = parseEntry(entry).at > now - LEASE_MS;
      return isRecent && entry.dueMs > now + LEASE_MS / 2 && entry.dueMs <= now + LEASE_MS;
    });
    await (fresh?.added ?? this.add(id, now, now + LEASE_MS));
  }

  /** Adds an entry. @param at Time of the oldest event. */
  async add(id: string, at: number, dueMs: number): Promise<void> {
    const entry = { id: `${id}_${at.toString(36)}`, dueMs: Math.min(dueMs, MAX_DUE_MS) };
    const added = this.#due.add(entry);
    this.#remember(id, [{ entry, added }]);
    await added;
  }

  /** Remembers an entry that another process added. */
  found(entry: DueEntry): void {
    this.#remember(parseEntry(entry).id, [{ entry, added: Promise.resolve() }]);
  }

  /**
   * Runs a write after which the entries so far are not needed, then removes them. Entries that are added meanwhile stay: another
   * write may rely on them.
   */
  async replace<T>(id: string, write: () => Promise<T>): Promise<T> {
    const known = this.#known.get(id) ?? [];
    this.#known.delete(id);
    let result: T;
    try {
      result = await write();
    } catch (error) {
      this.#remember(id, known);
      throw error;
    }
    const kept = this.#known.get(id) ?? [];
    for (const { entry, added } of known) {
      await added.catch(() => undefined); // It failed for its caller, and may exist.
      if (!kept.some((each) => isSame(each.entry, entry))) await this.#due.remove(entry);
    }
    return result;
  }

  /** Removes the known entries of an image without events. */
  async withdraw(id: string): Promise<void> {
    await this.replace(id, async () => undefined);
  }

  /** Moves an entry to another time. It stays known. */
  async move(entry: DueEntry, dueMs: number): Promise<void> {
    const { id } = parseEntry(entry);
    const moved = { id: entry.id, dueMs: Math.min(dueMs, MAX_DUE_MS) };
    const added = this.#due.add(moved);
    const isKnown = this.#known.get(id)?.some((each) => isSame(each.entry, entry)) === true;
    if (isKnown) this.#remember(id, [{ entry: moved, added }]);
    await added;
    await this.#due.remove(entry);
  }

  async remove(entry: DueEntry): Promise<void> {
    await this.#due.remove(entry);
  }

  #remember(id: string, more: readonly KnownEntry[]): void {
    const known = this.#known.get(id) ?? [];
    const news = more.filter(({ entry }) => !known.some((each) => isSame(each.entry, entry)));
    this.#known.set(id, [...known, ...news]);
  }
}

function isSame(a: DueEntry, b: DueEntry): boolean {
  return a.id === b.id && a.dueMs === b.dueMs;
}
