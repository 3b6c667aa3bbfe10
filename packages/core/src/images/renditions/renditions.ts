import { LRUCache } from "lru-cache";
import type { ServedFrom } from "../../contracts/observer.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { removeStored } from "./remove-stored.ts";
import { HOST_CLIENT } from "./render-gate.ts";
import { OriginalMissing, Rendering, type RenderingOptions } from "./rendering.ts";
import {
  findOriginal,
  fromMemory,
  type HotBytes,
  MAX_MEMORY_ENTRY_BYTES,
  type ServableBytes,
  type StoredTarget,
  tagOf,
} from "./rendition-bytes.ts";
import { RenditionCache } from "./rendition-cache.ts";
import type { Reader } from "./shared-work.ts";

export interface RenditionsOptions extends RenderingOptions {
  /** Memory for renditions and small originals in bytes, at least 0. */
  memoryBytes: number;
  /** Called with the source of each served picture. */
  served(from: ServedFrom): void;
}

/** How often a client joins another client's render that is then refused, before it gets the refusal itself. */
const MAX_JOINS = 3;

/** The bytes of images: from memory, from a store, or rendered. */
export class Renditions {
  readonly #options: RenditionsOptions;
  readonly #memory: LRUCache<string, HotBytes> | null;
  readonly #cache: RenditionCache;
  readonly #rendering: Rendering;

  constructor(options: RenditionsOptions) {
    this.#options = options;
    this.#memory = options.memoryBytes > 0 ? memoryOf(options.memoryBytes) : null;
    this.#cache = new RenditionCache(options);
    this.#rendering = new Rendering(options, this.#cache, (key, hot) => this.#memory?.set(key, hot));
  }

  /** Prepares a new store, before the first image. */
  open(): Promise<void> {
    return this.#cache.notes.open();
  }

  /** Bytes from memory, synchronously. `undefined`: not in memory, though perhaps in the store. */
  peek({ record, spec, key }: StoredTarget): HotBytes | undefined {
    const hot = this.#memory?.get(key);
    if (hot === undefined) return undefined;
    this.#options.served("memory");
    if (spec !== null) this.#cache.used(record, key);
    return hot;
  }

  /** As {@link peek}, by the key alone. It is not a use until {@link used}, which does not call `served`. */
  hotBytes(key: string): HotBytes | undefined {
    return this.#memory?.get(key);
  }

  /** Notes that the bytes under a key were served. */
  used(record: ImageRecord, key: string): void {
    this.#cache.used(record, key);
  }

  /** As {@link get}, but renders nothing: `null` also for a rendition that is not stored. */
  async find(target: StoredTarget, signal: AbortSignal): Promise<ServableBytes | null> {
    const hot = this.peek(target);
    if (hot !== undefined) return fromMemory(hot);
    const stored = await this.#fromStores(target, signal);
    if (stored === null) return null;
    this.#options.served("store");
    if (target.spec !== null) this.#cache.used(target.record, target.key);
    return stored;
  }

  /**
   * The bytes of a rendition, or of the original: from memory, from the store, or rendered by one of the processes
   * on the same store. `null`: the original is missing. Rejects as {@link Renderer.render} does, and
   * - with `overloaded` when another process takes too long,
   * - with `rate_limited` when the client has too many renders queued, or no budget left,
   * - with `damaged` when the size of the original differs from its record.
   *
   * A failure caused by the picture is stored. A picture that is too costly in two renditions is barred for an hour.
   */
  async get(target: StoredTarget, reader: Reader): Promise<ServableBytes | null> {
    const { record, spec, key } = target;
    try {
      for (let joins = 1; ; joins++) {
        const found = await this.find(target, reader.signal);
        if (found !== null || spec === null) return found;
        // A call in code is not bound by the limits of the clients that it joins.
        const mayRetry = joins < MAX_JOINS || reader.client === HOST_CLIENT;
        const made = await this.#rendering.once({ record, spec, key }, reader, mayRetry);
        if (made === null) continue;
        this.#options.served("render");
        return fromMemory(made);
      }
    } catch (error) {
      if (error instanceof OriginalMissing) return null;
      throw error;
    }
  }

  /** As {@link get}, but neither from memory nor leaving the bytes there. */
  async getUncached(target: StoredTarget, reader: Reader): Promise<ServableBytes | null> {
    this.#memory?.delete(target.key);
    const found = await this.get(target, reader);
    this.#memory?.delete(target.key);
    return found;
  }

  /** Reports that the original of a living image is missing. */
  lost(): void {
    this.#options.served("missing");
  }

  /** Removes all bytes of an image from memory and both stores. */
  async remove(id: string): Promise<void> {
    for (const key of this.#memory?.keys() ?? []) if (key.startsWith(`${id}/`)) this.#memory?.delete(key);
    await removeStored(this.#options, id);
  }

  /** Removes the stored renditions of idle images. @param mayGoOn `false` stops the removal. */
  sweep(mayGoOn: () => boolean): Promise<void> {
    return this.#cache.sweep(mayGoOn);
  }

  /**
   * The entity tag, quotes included, without reading the store: of the bytes in memory, of the original, or the tag that this
   * build would give.
   */
  expectedEtag({ record, spec, key }: StoredTarget): string {
    const hot = this.#memory?.get(key);
    return hot?.etag ?? tagOf(record.id, spec, this.#options.renderer.build);
  }

  /**
   * The entity tag of the bytes in memory or in the store, else the tag that this build would give. Caches small bodies in
   * memory: a client that revalidates is seldom the only one.
   */
  async etag(target: StoredTarget, signal: AbortSignal): Promise<string> {
    const { record, spec, key } = target;
    const hot = this.#memory?.get(key);
    if (hot !== undefined || spec === null) return hot?.etag ?? tagOf(record.id, spec);
    const stored = await this.#fromStores(target, signal);
    return stored?.etag ?? tagOf(record.id, spec, this.#options.renderer.build);
  }

  /** Waits until everything is stored. */
  async close(): Promise<void> {
    await this.#rendering.close();
    await this.#cache.close();
  }

  async #fromStores({ record, spec, key }: StoredTarget, signal: AbortSignal): Promise<ServableBytes | null> {
    const found = await (spec === null
      ? findOriginal(this.#options, record, signal)
      : this.#cache.find({ record, spec, key }, signal));
    if (found === null) return null;
    const { servable, hot } = found;
    if (hot !== null) this.#memory?.set(key, hot);
    return servable;
  }
}

function memoryOf(bytes: number): LRUCache<string, HotBytes> {
  return new LRUCache({
    maxSize: bytes,
    maxEntrySize: MAX_MEMORY_ENTRY_BYTES,
    sizeCalculation: (hot) => hot.bytes.length + 1,
  });
}
