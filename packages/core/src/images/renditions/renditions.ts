import { LRUCache } from "lru-cache";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import type { ServedFrom } from "../../contracts/observer.ts";
import type { Renderer, RenditionSpec } from "../../contracts/renderer.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { Rank } from "./bounds/image-shelf.ts";
import { createRenditionBounds, type RenditionBounds } from "./bounds/rendition-bounds.ts";
import {
  type FoundBytes,
  findOriginal,
  findRendition,
  keyFor,
  MAX_MEMORY_ENTRY_BYTES,
} from "./find-stored.ts";
import { isIntermediate, OriginalMissing } from "./make-rendition.ts";
import { removeStored } from "./remove-stored.ts";
import { createRendering, type Rendering } from "./rendering.ts";
import { createRenditionNotes, type RenditionNotes } from "./rendition-notes.ts";
import { type Claim, HOST_CLIENT } from "./scheduling/queue-order.ts";
import { createRenderFlights, type RenderFlights } from "./scheduling/render-flights.ts";
import type { RenderScheduler } from "./scheduling/render-scheduler.ts";
import { fromMemory, type HotBytes, type ServableBytes, tagOf } from "./servable-bytes.ts";
import { isSpecName } from "./spec-name.ts";

export interface RenditionsOptions {
  /** The leases of renders; `null`: none. See {@link SharedWorkOptions.leases}. */
  leases(): Promise<LeaseStore | null>;
  records: BlobStore;
  originals: BlobStore;
  renditions: BlobStore;
  /** Whether an image has not ended. */
  isLiving(id: string): Promise<boolean>;
  renderer: Renderer;
  /** Schedules the same renderer fairly between clients. */
  scheduler: RenderScheduler;
  /** Memory for renditions and small originals in bytes, at least 0. */
  memoryBytes: number;
  /** Limit for all stored renditions together in bytes; `null`: no limit. */
  maxStoredBytes: number | null;
  /** Days that an image keeps its stored renditions after their last use; `null`: for ever. */
  idleDays: number | null;
  /** The time in Unix milliseconds. */
  now(): number;
  /** Receives errors that did not affect a reply. */
  onError(error: unknown): void;
  /** Called with the source of each served picture. */
  served(from: ServedFrom): void;
}

/** The client of a read. */
export interface Reader {
  /** The client that the work counts for: its address (cut as for rate limits), an owner, or the host app. */
  client: string;
  signal: AbortSignal;
}

export interface Renditions {
  /** Prepares a new store, before the first image. */
  open(): Promise<void>;
  /** Bytes from memory, synchronously. `undefined`: not in memory, though perhaps in the store. */
  peek(id: string, spec: RenditionSpec | null): HotBytes | undefined;
  /** As {@link peek}, by the key of {@link keyFor}. It is not a use until {@link used}, which does not call `served`. */
  lookAt(key: string): HotBytes | undefined;
  /** Notes that the bytes under a key were served. */
  used(id: string, key: string): void;
  /** As {@link get}, but renders nothing: `null` also for a rendition that is not stored. */
  find(record: ImageRecord, spec: RenditionSpec | null, signal: AbortSignal): Promise<ServableBytes | null>;
  /**
   * The bytes of a rendition, or of the original for `null`: from memory, from the store, or rendered by one of the processes
   * on the same store. `null`: the original is missing. Rejects as {@link Renderer.render} does, and
   * - with `overloaded` when another process takes too long,
   * - with `rate_limited` when the client has too many renders queued, or no budget left,
   * - with `damaged` when the size of the original differs from its record.
   *
   * A failure caused by the picture is stored. A picture that is too costly in two renditions is barred for an hour.
   */
  get(record: ImageRecord, spec: RenditionSpec | null, reader: Reader): Promise<ServableBytes | null>;
  /** Removes all bytes of an image from memory and both stores. */
  remove(id: string): Promise<void>;
  /** Removes idle stored renditions, and the oldest beyond the limit. @param mayGoOn `false` stops the removal. */
  sweep(mayGoOn: () => boolean): Promise<void>;
  /**
   * The entity tag, quotes included, without reading the store: of the bytes in memory, of the original, or the tag that this
   * build would give.
   */
  expectedEtag(record: ImageRecord, spec: RenditionSpec | null): string;
  /**
   * The entity tag of the bytes in memory or in the store, else the tag that this build would give. Caches small bodies in
   * memory: a client that revalidates is seldom the only one.
   */
  etag(record: ImageRecord, spec: RenditionSpec | null, signal: AbortSignal): Promise<string>;
  /** Waits until everything is stored. */
  close(): Promise<void>;
}

/** How often a client joins another client's render that is then refused, before it gets the refusal itself. */
const MAX_JOINS = 3;

export function createRenditions(options: RenditionsOptions): Renditions {
  return new StoredRenditions(options);
}

class StoredRenditions implements Renditions {
  readonly #options: RenditionsOptions;
  readonly #memory: LRUCache<string, HotBytes> | null;
  readonly #notes: RenditionNotes;
  readonly #bounds: RenditionBounds;
  readonly #flights: RenderFlights<HotBytes | null>;
  readonly #rendering: Rendering;

  constructor(options: RenditionsOptions) {
    const { renditions: store, maxStoredBytes: maxBytes, idleDays, now, onError } = options;
    this.#options = options;
    this.#memory = options.memoryBytes > 0 ? memoryOf(options.memoryBytes) : null;
    this.#notes = createRenditionNotes(options);
    const notes = this.#notes;
    this.#bounds = createRenditionBounds({ store, notes, rankOf, maxBytes, idleDays, now, onError });
    this.#flights = createRenderFlights(options.scheduler);
    this.#rendering = createRendering({
      ...options,
      notes,
      bounds: this.#bounds,
      remember: (key, hot) => this.#memory?.set(key, hot),
    });
  }

  open(): Promise<void> {
    return this.#notes.open();
  }

  peek(id: string, spec: RenditionSpec | null): HotBytes | undefined {
    const key = keyFor(id, spec);
    const hot = this.#memory?.get(key);
    if (hot !== undefined) this.#noteUse(id, spec, key, "memory");
    return hot;
  }

  lookAt(key: string): HotBytes | undefined {
    return this.#memory?.get(key);
  }

  used(id: string, key: string): void {
    this.#bounds.used(id, key);
  }

  async find(
    record: ImageRecord,
    spec: RenditionSpec | null,
    signal: AbortSignal,
  ): Promise<ServableBytes | null> {
    const hot = this.peek(record.id, spec);
    if (hot !== undefined) return fromMemory(hot);
    const stored = await this.#fromStores(record, spec, signal);
    if (stored !== null) this.#noteUse(record.id, spec, keyFor(record.id, spec), "store");
    return stored;
  }

  async get(record: ImageRecord, spec: RenditionSpec | null, reader: Reader): Promise<ServableBytes | null> {
    try {
      for (let joins = 1; ; joins++) {
        const found = await this.find(record, spec, reader.signal);
        if (found !== null || spec === null) return found;
        const render = (claim: Claim, signal: AbortSignal) =>
          this.#rendering.once(record, spec, { kind: "render", claim, signal });
        // A call in code is not bound by the limits of the clients that it joins.
        const mayRetry = joins < MAX_JOINS || reader.client === HOST_CLIENT;
        const made = await this.#flights.join(keyFor(record.id, spec), reader, render, mayRetry);
        if (made === null) continue;
        this.#options.served("render");
        return fromMemory(made);
      }
    } catch (error) {
      if (error instanceof OriginalMissing) return null;
      throw error;
    }
  }

  async remove(id: string): Promise<void> {
    for (const key of this.#memory?.keys() ?? []) if (key.startsWith(`${id}/`)) this.#memory?.delete(key);
    await removeStored(this.#options, id);
    this.#bounds.removed(id);
  }

  sweep(mayGoOn: () => boolean): Promise<void> {
    return this.#bounds.keep(mayGoOn);
  }

  expectedEtag(record: ImageRecord, spec: RenditionSpec | null): string {
    const hot = this.#memory?.get(keyFor(record.id, spec));
    return hot?.etag ?? tagOf(record.id, spec, this.#options.renderer.build);
  }

  async etag(record: ImageRecord, spec: RenditionSpec | null, signal: AbortSignal): Promise<string> {
    const hot = this.#memory?.get(keyFor(record.id, spec));
    if (hot !== undefined || spec === null) return hot?.etag ?? tagOf(record.id, spec);
    const stored = await this.#fromStores(record, spec, signal);
    return stored?.etag ?? tagOf(record.id, spec, this.#options.renderer.build);
  }

  async close(): Promise<void> {
    await this.#rendering.close();
    await this.#bounds.close().catch(this.#options.onError);
  }

  async #fromStores(
    record: ImageRecord,
    spec: RenditionSpec | null,
    signal: AbortSignal,
  ): Promise<ServableBytes | null> {
    const found = await (spec === null
      ? findOriginal(this.#options, record, signal)
      : this.#findRendition(record, spec, signal));
    if (found === null) return null;
    const { servable, hot, stamp } = found;
    if (hot !== null) this.#memory?.set(keyFor(record.id, spec), hot);
    const { renderer } = this.#options;
    if (spec !== null && stamp !== null && stamp.look < renderer.look(record.type, spec.format)) {
      this.#rendering.renew(record, spec);
    }
    return servable;
  }

  /** Asks the store only for what the notes name, and corrects notes of a rendition that is not there. */
  async #findRendition(
    record: ImageRecord,
    spec: RenditionSpec,
    signal: AbortSignal,
  ): Promise<FoundBytes | null> {
    const key = keyFor(record.id, spec);
    const isNoted = await this.#notes.isNoted(record, key);
    if (isNoted === false) return null;
    const found = await findRendition(this.#options, record.id, spec, signal);
    if (found !== null || isNoted === null) return found;
    const corrected = this.#notes.change(record, ({ stored, failures }) => {
      const others = [...(stored ?? [])].filter(([each]) => each !== key);
      return { stored: stored && new Map(others), failures };
    });
    // If that fails, the next read corrects them.
    await corrected.catch(this.#options.onError);
    return null;
  }

  #noteUse(id: string, spec: RenditionSpec | null, key: string, from: ServedFrom): void {
    this.#options.served(from);
    if (spec !== null) this.#bounds.used(id, key);
  }
}

function memoryOf(bytes: number): LRUCache<string, HotBytes> {
  return new LRUCache({
    maxSize: bytes,
    maxEntrySize: MAX_MEMORY_ENTRY_BYTES,
    sizeCalculation: (hot) => hot.bytes.length + 1,
  });
}

/** Intermediates are costly, so they go last. Names of earlier releases are never requested: first. */
function rankOf(key: string): Rank {
  const [, part, name = ""] = key.split("/");
  if (isIntermediate(key)) return "last";
  return part === "renditions" && isSpecName(name) ? "inTurn" : "first";
}
