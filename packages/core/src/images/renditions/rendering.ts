import type { BlobStore } from "../../contracts/blob-store.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import type { Observer } from "../../contracts/observer.ts";
import type { Renderer, Rendition, RenditionSpec } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import type { GatedWork, RenderGate } from "./render-gate.ts";
import {
  type HotBytes,
  openSource,
  type RenditionTarget,
  requireSize,
  STAMP_BYTES,
  specName,
  stamped,
  storedBuild,
  tagOf,
} from "./rendition-bytes.ts";
import type { RenditionCache, RenditionCacheOptions } from "./rendition-cache.ts";
import type { NotedFailure } from "./rendition-notes.ts";
import { type Made, type Reader, SharedWork, SingleFlight } from "./shared-work.ts";

export interface RenderingOptions extends RenditionCacheOptions {
  /** Receives the waits for other processes. */
  observer?: Observer | undefined;
  /** The leases of renders; `null`: none. See {@link SharedWorkOptions.leases}. */
  leases(): Promise<LeaseStore | null>;
  originals: BlobStore;
  renderer: Renderer;
  /** Shares the same renderer between clients. */
  renders: RenderGate;
}

/** Renditions being stored in the background. Beyond this number, they are served without being stored. */
const MAX_PENDING_PUTS = 16;
/** A picture that was too costly in two renditions is not rendered for this time after its last failure. */
const BARRED_MS = 3_600_000;

/** The record exists but its bytes do not: they were just removed, or lost. */
export class OriginalMissing extends Error {}

/** Renders missing renditions, each in one of the processes that share the store, and stores them after the reply. */
export class Rendering {
  readonly #options: RenderingOptions;
  readonly #cache: RenditionCache;
  readonly #remember: (key: string, hot: HotBytes) => void;
  readonly #flights = new SingleFlight<HotBytes | null>();
  readonly #shared: SharedWork;
  readonly #pendingPuts = new Set<Promise<void>>();

  /** @param remember Caches a new rendition in memory. */
  constructor(
    options: RenderingOptions,
    cache: RenditionCache,
    remember: (key: string, hot: HotBytes) => void,
  ) {
    const { leases, onError } = options;
    this.#options = options;
    this.#cache = cache;
    this.#remember = remember;
    this.#shared = new SharedWork({ leases, onError, observer: options.observer });
  }

  /**
   * Renders once for all readers of this process that request the same rendition, unless another process has rendered it or is
   * rendering it. Rejects as the renderer does, and with {@link OriginalMissing}.
   * @param mayRetry Whether to resolve to `null` if the render that the reader joins is refused.
   * @returns `null`: the rendition is now stored, or the reader retries.
   */
  async once(target: RenditionTarget, reader: Reader, mayRetry: boolean): Promise<HotBytes | null> {
    const { key } = target;
    let isOwn = false;
    try {
      return await this.#flights.join(key, reader.signal, (signal) => {
        isOwn = true;
        const isDone = () => this.#isStored(target);
        return this.#shared.once(
          key,
          { isDone, work: () => this.#makeAndStore(target, reader.client, signal) },
          signal,
        );
      });
    } catch (error) {
      if (isOwn || !mayRetry || !isServiceError(error, "rate_limited")) throw error;
      return null;
    }
  }

  /** Waits until everything is stored. */
  async close(): Promise<void> {
    await Promise.all(this.#pendingPuts);
    await this.#shared.close();
  }

  /** Whether a rendition is stored. Rejects if it is known to fail, or its picture to be too costly. */
  async #isStored({ record, spec, key }: RenditionTarget): Promise<boolean> {
    const { renditions, renderer, now } = this.#options;
    const { stored, failures } = await this.#cache.notes.read(record);
    const ours = failures.filter(({ build }) => build === renderer.build);
    const failure = ours.find(({ rendition }) => rendition === specName(spec));
    if (failure !== undefined) throw new ServiceError("unsupported_media", failure.reason);
    // A note may name a rendition that was removed.
    const isStored = stored?.includes(key) !== false && (await storedBuild(renditions, key)) !== null;
    if (!isStored) requireAffordable(ours, now());
    return isStored;
  }

  async #makeAndStore(target: RenditionTarget, client: string, signal: AbortSignal): Promise<Made<HotBytes>> {
    const { record, spec, key } = target;
    try {
      // The source is opened within the slot, so a render that waits holds no bytes.
      const { bytes } = await this.#options.renders.render(client, signal, (given) =>
        this.#make(record, spec, given),
      );
      const { build } = this.#options.renderer;
      const blob = stamped(build, bytes);
      // A part of the blob, so that one copy serves the reply, the memory and the store.
      const hot = { bytes: blob.subarray(STAMP_BYTES), etag: tagOf(record.id, spec, build) };
      this.#remember(key, hot);
      return { value: hot, stored: this.#storeBehind(record, key, blob) };
    } catch (error) {
      await this.#noteFailure(record, spec, error);
      throw error;
    }
  }

  async #make(record: ImageRecord, spec: RenditionSpec, given: GatedWork): Promise<Rendition> {
    const { renderer } = this.#options;
    const key = keyOf.original(record.id);
    const opened = await openSource(this.#options.originals, key);
    if (opened === null) throw new OriginalMissing();
    requireSize(key, opened.size, record.size);
    return renderer.render(opened.source, record.type, spec, given);
  }

  /** Notes a failure caused by the picture itself. */
  async #noteFailure(record: ImageRecord, spec: RenditionSpec, error: unknown): Promise<void> {
    const isCostly = isServiceError(error, "too_costly");
    if (!isCostly && !isServiceError(error, "unsupported_media")) return;
    const { renderer, now, onError } = this.#options;
    const failure = {
      rendition: specName(spec),
      build: renderer.build,
      reason: error.message,
      costlyAtMs: isCostly ? now() : null,
    };
    await this.#cache.noteFailure(record, failure).catch(onError);
  }

  /** Stores in the background. A rendition that cannot be stored is rendered again later. */
  #storeBehind(image: ImageRecord, key: string, bytes: Buffer): Promise<void> {
    if (this.#pendingPuts.size >= MAX_PENDING_PUTS) return Promise.resolve();
    const task = this.#cache
      .store(image, key, bytes)
      .catch(this.#options.onError)
      .finally(() => this.#pendingPuts.delete(task));
    this.#pendingPuts.add(task);
    return task;
  }
}

/** Rejects a picture that was too costly in two renditions, until an hour after the last failure. Each further one bars it again. */
function requireAffordable(failures: readonly NotedFailure[], nowMs: number): void {
  const costly = failures.filter(({ costlyAtMs }) => costlyAtMs !== null);
  const last = costly.at(-1);
  if (last === undefined || costly.length < 2 || nowMs - Number(last.costlyAtMs) >= BARRED_MS) return;
  const reason = `${last.reason} This happened in two sizes, so no other size is rendered for an hour.`;
  throw new ServiceError("too_costly", reason);
}
