import type { BlobStore } from "../../contracts/blob-store.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import type { Renderer, RenditionSpec } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { createRenditionMaker, type MakeRendition } from "./make-rendition.ts";
import { type HotBytes, STAMP_BYTES, stamped, storedStamp } from "./rendition-bytes.ts";
import type { RenditionCache } from "./rendition-cache.ts";
import { intermediateKey, keyFor, specName, tagOf } from "./rendition-names.ts";
import type { NotedFailure } from "./rendition-notes.ts";
import { Renewals } from "./renewals.ts";
import { claimOf } from "./scheduling/render-flights.ts";
import type { RenderScheduler, Turn } from "./scheduling/render-scheduler.ts";
import { createSharedWork, type Made, type SharedWork } from "./shared-work.ts";

export interface RenderingOptions {
  leases(): Promise<LeaseStore | null>;
  originals: BlobStore;
  renditions: BlobStore;
  renderer: Renderer;
  scheduler: RenderScheduler;
  cache: RenditionCache;
  /** Caches a new rendition in memory. */
  remember(key: string, hot: HotBytes): void;
  /** The time in Unix milliseconds. */
  now(): number;
  /** Receives errors of background work. */
  onError(error: unknown): void;
}

/** Renditions being stored in the background. Beyond this number, they are served without being stored. */
const MAX_PENDING_PUTS = 16;
/** A picture that was too costly in two renditions is not rendered for this time after its last failure. */
const BARRED_MS = 3_600_000;
/** Client name that renewals count for. No client address looks like it. */
const RENEWALS = "renewals";

/** Renders missing renditions, each in one of the processes that share the store, and stores them after the reply. */
export class Rendering {
  readonly #options: RenderingOptions;
  readonly #make: MakeRendition;
  readonly #shared: SharedWork;
  readonly #renewals: Renewals;
  readonly #pendingPuts = new Set<Promise<void>>();

  constructor(options: RenderingOptions) {
    const { leases, onError } = options;
    this.#options = options;
    this.#make = createRenditionMaker(options);
    this.#shared = createSharedWork({ leases, onError });
    this.#renewals = new Renewals(onError);
  }

  /** Renders, unless another process has rendered it or is rendering it. `null`: the rendition is now stored. */
  once(record: ImageRecord, spec: RenditionSpec, turn: Turn): Promise<HotBytes | null> {
    const { cache, renditions } = this.#options;
    const key = keyFor(record.id, spec);
    const isDone = async () => {
      const { stored, failures } = await cache.notes.read(record);
      const ours = failures.filter(({ build }) => build === this.#options.renderer.build);
      const failure = ours.find(({ rendition }) => rendition === specName(spec));
      if (failure !== undefined) throw new ServiceError("unsupported_media", failure.reason);
      // A note may name a rendition that was removed.
      const isStored = stored?.has(key) !== false && (await storedStamp(renditions, key)) !== null;
      if (!isStored) this.#requireAffordable(ours);
      return isStored;
    };
    return this.#shared.once(
      key,
      { isDone, work: () => this.#makeAndStore(record, spec, turn) },
      turn.signal,
    );
  }

  /** Renders a stored rendition of an older look again in the background. Replies get the old one until then. */
  renew(record: ImageRecord, spec: RenditionSpec): void {
    const { renditions, renderer } = this.#options;
    const key = keyFor(record.id, spec);
    this.#renewals.request(key, async (signal) => {
      const turn: Turn = { kind: "background", claim: claimOf(RENEWALS), signal };
      const look = renderer.look(record.type, spec.format);
      const isDone = async () => ((await storedStamp(renditions, key, signal))?.look ?? look) >= look;
      await this.#shared.once(key, { isDone, work: () => this.#makeAndStore(record, spec, turn) }, signal);
    });
  }

  /** Waits until everything is stored. */
  async close(): Promise<void> {
    await this.#renewals.close();
    await Promise.all(this.#pendingPuts);
    await this.#shared.close();
  }

  /** Rejects a picture that was too costly in two renditions, until an hour after the last failure. Each further one bars it again. */
  #requireAffordable(failures: readonly NotedFailure[]): void {
    const costly = failures.filter(({ costlyAtMs }) => costlyAtMs !== null);
    const last = costly.at(-1);
    if (last === undefined || costly.length < 2 || this.#options.now() - Number(last.costlyAtMs) >= BARRED_MS)
      return;
    const reason = `${last.reason} This happened in two sizes, so no other size is rendered for an hour.`;
    throw new ServiceError("too_costly", reason);
  }

  async #makeAndStore(record: ImageRecord, spec: RenditionSpec, turn: Turn): Promise<Made<HotBytes>> {
    try {
      const { bytes, stamp, intermediate } = await this.#make(record, spec, turn);
      if (intermediate !== undefined) {
        void this.#storeBehind(record, intermediateKey(record.id, spec), stamped(stamp, intermediate));
      }
      const key = keyFor(record.id, spec);
      const blob = stamped(stamp, bytes);
      // A part of the blob, so that one copy serves the reply, the memory and the store.
      const hot = { bytes: blob.subarray(STAMP_BYTES), etag: tagOf(record.id, spec, stamp.build) };
      this.#options.remember(key, hot);
      return { value: hot, stored: this.#storeBehind(record, key, blob) };
    } catch (error) {
      await this.#noteFailure(record, spec, error);
      throw error;
    }
  }

  /** Notes a failure caused by the picture itself. */
  async #noteFailure(record: ImageRecord, spec: RenditionSpec, error: unknown): Promise<void> {
    const isCostly = isServiceError(error, "too_costly");
    if (!isCostly && !isServiceError(error, "unsupported_media")) return;
    const { cache, renderer, now, onError } = this.#options;
    const failure = {
      rendition: specName(spec),
      build: renderer.build,
      reason: error.message,
      costlyAtMs: isCostly ? now() : null,
    };
    await cache.noteFailure(record, failure).catch(onError);
  }

  /** Stores in the background. A rendition that cannot be stored is rendered again later. */
  #storeBehind(image: ImageRecord, key: string, bytes: Buffer): Promise<void> {
    if (this.#pendingPuts.size >= MAX_PENDING_PUTS) return Promise.resolve();
    const { cache, onError } = this.#options;
    const task = cache
      .store(image, key, bytes)
      .catch(onError)
      .finally(() => this.#pendingPuts.delete(task));
    this.#pendingPuts.add(task);
    return task;
  }
}
