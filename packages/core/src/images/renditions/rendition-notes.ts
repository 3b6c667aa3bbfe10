import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { StorageRoles } from "../../contracts/blob-store.ts";
import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import { MAX_DUE_MS } from "../../contracts/due-index.ts";
import { isServiceError, onCode } from "../../errors.ts";
import { readAll } from "../../stores/blob-body.ts";
import { type ImageRecord, jsonIn, keyOf } from "../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/record-codec.ts";

/** What the processes know of the renditions of one image. */
export interface Notes {
  /** Keys of the stored renditions, the oldest first. `null`: unknown, so the store is asked. */
  stored: readonly string[] | null;
  /** Renditions that failed because of the picture, the oldest first. */
  failures: readonly NotedFailure[];
  /**
   * Last use in Unix milliseconds, at most a quarter of the idle time out of date. `null`: unknown, or uses are not noted.
   */
  usedAt: number | null;
  /**
   * When the image's entry in the due list of idle images is due, in Unix milliseconds. `null`: it has none, or it is not
   * known.
   */
  idleAt: number | null;
}

export interface NotedFailure {
  /** Name of the rendition. */
  rendition: string;
  /** Build of the renderer: another build may succeed. */
  build: string;
  /** Message for clients. */
  reason: string;
  /** Time in Unix milliseconds if the rendition ran out of CPU time or memory; `null`: another failure. */
  costlyAtMs: number | null;
}

/** An image, as far as its notes depend on it. */
export type NotedImage = Pick<ImageRecord, "id" | "createdAt">;

const SINCE_KEY = "rendition-notes/since";
const MAX_KNOWN = 512;
const MAX_FAILURES = 32;
/** Attempts of a write. Losing this often cannot be due to concurrent writers alone. */
const MAX_ATTEMPTS = 100;
/** Longest pause after a lost attempt. */
const PAUSE_MS = 20;

/** The notes of a store that is about to be filled with images from elsewhere are not complete. */
export async function resetNotes(records: BlobStore): Promise<void> {
  await records.delete(SINCE_KEY);
}

type EditNotes = (notes: Notes) => Notes | Promise<Notes>;

/** Notes at one revision; `null`: none are stored. */
interface KnownNotes {
  notes: Notes;
  revision: string | null;
}

/**
 * Notes about the renditions of images, a blob per image in the store of the records. They spare requests to a remote store of
 * renditions: it is neither asked for what it lacks nor listed. For renditions in a directory, only failures and uses are noted.
 *
 * A crash can leave a rendition unnoted: it is rendered again. It can also leave a note of a rendition that is not there: the process that
 * misses it corrects the notes.
 */
export class RenditionNotes {
  /** Whether stored renditions are noted. */
  readonly areStoredNoted: boolean;
  readonly #records: BlobStore;
  readonly #now: () => number;
  readonly #known = new LRUCache<string, KnownNotes>({ max: MAX_KNOWN });
  /** The last change of each image that is being changed. */
  readonly #changing = new Map<string, Promise<void>>();
  #since: Promise<number> | null = null;

  /** @param now The time in Unix milliseconds. */
  constructor({ records, renditions }: Pick<StorageRoles, "records" | "renditions">, now: () => number) {
    this.areStoredNoted = !isLocalStore(renditions);
    this.#records = records;
    this.#now = now;
  }

  /** Notes, in a store that has no notes yet, that those of new images are complete. */
  async open(): Promise<void> {
    if (this.areStoredNoted) await this.#readSince();
  }

  async read(image: NotedImage): Promise<Notes> {
    return (await this.#load(image)).notes;
  }

  /** The notes as this process last read or wrote them, which may be outdated. Reads them if it has not. */
  async latest(image: NotedImage): Promise<Notes> {
    return (this.#known.get(image.id) ?? (await this.#load(image))).notes;
  }

  /** Whether a rendition is noted as stored; `null`: unknown. Reads the notes unless this process knows of such a note. */
  async isNoted(image: NotedImage, key: string): Promise<boolean | null> {
    if (!this.areStoredNoted) return null;
    if (this.#known.get(image.id)?.notes.stored?.includes(key)) return true;
    return (await this.read(image)).stored?.includes(key) ?? null;
  }

  /**
   * Changes the notes by compare-and-set, one change of an image after the other in this process.
   * @param edit Called again with other notes if another process changed them. Nothing is written if it returns its argument.
   */
  async change(image: NotedImage, edit: EditNotes): Promise<void> {
    // One after the other, because changes of the same revision would conflict.
    const before = this.#changing.get(image.id);
    const changing = Promise.resolve(before?.catch(() => undefined)).then(() => this.#change(image, edit));
    this.#changing.set(image.id, changing);
    try {
      await changing;
    } finally {
      if (this.#changing.get(image.id) === changing) this.#changing.delete(image.id);
    }
  }

  async #change(image: NotedImage, edit: EditNotes): Promise<void> {
    let known = this.#known.get(image.id) ?? (await this.#load(image));
    for (let attempt = 1; ; attempt++) {
      const edited = await edit(known.notes);
      if (edited === known.notes) return;
      const notes = { ...edited, failures: edited.failures.slice(-MAX_FAILURES) };
      try {
        const options = { ifRevision: known.revision, mayBeLost: true, withoutHistory: true };
        const { revision } = await this.#records.put(keyOf.notes(image.id), encode(notes, image.id), options);
        this.#known.set(image.id, { notes, revision });
        return;
      } catch (error) {
        this.#known.delete(image.id);
        if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
        // Another process changed them. The pauses differ, so that two do not meet again and again.
        await delay(randomInt(PAUSE_MS));
        known = await this.#load(image);
      }
    }
  }

  /** Removes all notes: nothing is stored of the image any more. */
  async remove(id: string): Promise<void> {
    this.#known.delete(id);
    await this.#records.delete(keyOf.notes(id));
  }

  async #load({ id, createdAt }: NotedImage): Promise<KnownNotes> {
    const blob = await this.#records.get(keyOf.notes(id));
    const notes =
      blob === null
        ? {
            stored: this.areStoredNoted && createdAt >= (await this.#readSince()) ? [] : null,
            failures: [],
            usedAt: null,
            idleAt: null,
          }
        : notesIn(jsonIn(await readAll(blob.body)), id);
    const known = { notes, revision: blob?.revision ?? null };
    this.#known.set(id, known);
    return known;
  }

  /** Since when the notes of new images are complete, in Unix milliseconds. Earlier images may have renditions that no notes name. */
  #readSince(): Promise<number> {
    this.#since ??= readSince(this.#records, this.#now).catch((error) => {
      this.#since = null;
      throw error;
    });
    return this.#since;
  }
}

async function readSince(records: BlobStore, now: () => number): Promise<number> {
  for (;;) {
    const blob = await records.get(SINCE_KEY);
    const since = blob === null ? null : Number((await readAll(blob.body)).toString("latin1"));
    if (since !== null && Number.isSafeInteger(since)) return since;
    const ifRevision = blob?.revision ?? null;
    const writing = records.put(SINCE_KEY, Buffer.from(String(now())), { ifRevision });
    // Another process wrote it first.
    await writing.catch(onCode("conflict", null));
  }
}

function encode({ stored, failures, usedAt, idleAt }: Notes, id: string): Buffer {
  const prefix = keyOf.rendition(id, "");
  const names = stored?.map((key) => key.slice(prefix.length));
  const notes = {
    v: FORMAT_VERSION,
    stored: names,
    failures,
    usedAt: usedAt ?? undefined,
    idleAt: idleAt ?? undefined,
  };
  return Buffer.from(JSON.stringify(notes), "utf8");
}

/** Damaged notes count as unknown, and the next change replaces them. */
function notesIn(value: unknown, id: string): Notes {
  const { v, stored, failures, usedAt } = Object(value) as Partial<Record<"v" | keyof Notes, unknown>>; // Checked here.
  requireKnownVersion(v, `The notes of image ${id} (key "${keyOf.notes(id)}")`);
  const prefix = keyOf.rendition(id, "");
  const areNames = Array.isArray(stored) && stored.every((name) => typeof name === "string");
  return {
    stored: areNames ? stored.map((name) => prefix + name) : null,
    failures: Array.isArray(failures) ? failures.filter(isFailure) : [],
    usedAt: typeof usedAt === "number" && Number.isSafeInteger(usedAt) ? usedAt : null,
    idleAt: idleAtIn(value),
  };
}

/** See {@link Notes.idleAt}. @param notes The parsed bytes of stored notes. */
export function idleAtIn(notes: unknown): number | null {
  const { idleAt } = Object(notes) as { idleAt?: unknown }; // Checked here.
  const isDate =
    typeof idleAt === "number" && Number.isInteger(idleAt) && idleAt >= 0 && idleAt <= MAX_DUE_MS;
  return isDate ? idleAt : null;
}

function isFailure(value: unknown): value is NotedFailure {
  const { rendition, build, reason, costlyAtMs } = Object(value) as Partial<
    Record<keyof NotedFailure, unknown>
  >;
  const isTimed = costlyAtMs === null || typeof costlyAtMs === "number";
  return isTimed && [rendition, build, reason].every((text) => typeof text === "string");
}
