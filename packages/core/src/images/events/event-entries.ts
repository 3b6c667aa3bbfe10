import { LRUCache } from "lru-cache";
import { type DueEntry, MAX_DUE_MS } from "../../contracts/due-index.ts";
import type { Backlog } from "../../http/deliveries.ts";
import type { DueList } from "../../stores/due-list.ts";
import { ID_LENGTH } from "../record/image-record.ts";
import { LEASE_MS } from "./outbox-lease.ts";

/** A write that takes longer is not expected. An entry that is found without events is moved to this age, then removed. */
export const ORPHAN_MS = 15 * 60_000;
const MAX_COUNTED = 1000;

interface KnownEntry {
  entry: DueEntry;
  added: Promise<void>;
  /** Whether it is removed after the next write without events. */
  isRetired: boolean;
}

/** The image and the time of the event that an entry names. */
export function parseEntry({ id }: DueEntry): { id: string; at: number } {
  return { id: id.slice(0, ID_LENGTH), at: Number.parseInt(id.slice(ID_LENGTH + 1), 36) };
}

/** Counts the images with undelivered events, up to 1000. An entry that has just been added may belong to a write under way. */
export async function countBacklog(due: DueList, nowMs: number): Promise<Backlog> {
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
    const fresh = this.#known.get(id)?.find(({ entry, isRetired }) => {
      const isRecent = parseEntry(entry).at > now - LEASE_MS;
      return !isRetired && isRecent && entry.dueMs > now + LEASE_MS / 2 && entry.dueMs <= now + LEASE_MS;
    });
    await (fresh?.added ?? this.add(id, now, now + LEASE_MS));
  }

  /** Adds an entry. @param at Time of the oldest event. */
  async add(id: string, at: number, dueMs: number): Promise<void> {
    const entry = { id: `${id}_${at.toString(36)}`, dueMs: Math.min(dueMs, MAX_DUE_MS) };
    const added = this.#due.add(entry);
    this.#remember(id, entry, added);
    await added;
  }

  /** Remembers an entry that another process added. */
  found(entry: DueEntry): void {
    this.#remember(parseEntry(entry).id, entry, Promise.resolve());
  }

  /** Runs a write after which the entries so far are not needed, then removes them; see {@link retire}. */
  async replace<T>(id: string, write: () => Promise<T>): Promise<T> {
    this.retire(id);
    const result = await write();
    await this.removeRetired(id);
    return result;
  }

  /**
   * Call it before a write after which the entries so far are not needed. Entries that are added later stay: another write may rely on
   * them.
   */
  retire(id: string): void {
    for (const known of this.#known.get(id) ?? []) known.isRetired = true;
  }

  /** Removes the retired entries, after that write. */
  async removeRetired(id: string): Promise<void> {
    for (const known of this.#known.get(id)?.filter(({ isRetired }) => isRetired) ?? []) {
      await known.added.catch(() => undefined); // It failed for its caller, and may exist.
      const others = this.#known.get(id)?.filter((each) => each !== known) ?? [];
      // It may have been added again meanwhile.
      const isNeeded = others.some(({ entry }) => isSame(entry, known.entry));
      if (others.length > 0) this.#known.set(id, others);
      else this.#known.delete(id);
      if (!isNeeded) await this.#due.remove(known.entry);
    }
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
    if (isKnown) this.#remember(id, moved, added);
    await added;
    await this.#due.remove(entry);
  }

  async remove(entry: DueEntry): Promise<void> {
    await this.#due.remove(entry);
  }

  #remember(id: string, entry: DueEntry, added: Promise<void>): void {
    const others = this.#known.get(id)?.filter((each) => !isSame(each.entry, entry)) ?? [];
    this.#known.set(id, [...others, { entry, added, isRetired: false }]);
  }
}

function isSame(a: DueEntry, b: DueEntry): boolean {
  return a.id === b.id && a.dueMs === b.dueMs;
}
