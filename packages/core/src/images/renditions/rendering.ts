import type { BlobStore } from "../../contracts/blob-store.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import type { Renderer, RenditionSpec } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { type BarredPictures, createBarredPictures } from "./barred-pictures.ts";
import type { BoundedImage, RenditionBounds } from "./bounds/rendition-bounds.ts";
import { keyFor } from "./find-stored.ts";
import { createRenditionMaker, intermediateKey, type MakeRendition } from "./make-rendition.ts";
import { createRenewals, type Renewals } from "./renewals.ts";
import { claimOf } from "./scheduling/render-flights.ts";
import type { RenderScheduler, Turn } from "./scheduling/render-scheduler.ts";
import { type HotBytes, tagOf } from "./servable-bytes.ts";
import { createSharedWork, type Made, type SharedWork } from "./shared-work.ts";
import { specName } from "./spec-name.ts";
import { STAMP_BYTES, stamped, storedStamp } from "./stored-rendition.ts";

/** Renders missing renditions, each in one of the processes that share the store, and stores them after the reply. */
export interface Rendering {
  /** Renders, unless another process has rendered it or is rendering it. `null`: the rendition is now stored. */
  once(record: ImageRecord, spec: RenditionSpec, turn: Turn): Promise<HotBytes | null>;
  /** Renders a stored rendition of an older look again in the background. Replies get the old one until then. */
  renew(record: ImageRecord, spec: RenditionSpec): void;
  /** Waits until everything is stored. */
  close(): Promise<void>;
}

export interface RenderingOptions {
  leases(): Promise<LeaseStore | null>;
  originals: BlobStore;
  renditions: BlobStore;
  renderer: Renderer;
  scheduler: RenderScheduler;
  bounds: RenditionBounds;
  /** Caches a new rendition in memory. */
  remember(key: string, hot: HotBytes): void;
  /** The time in Unix milliseconds. */
  now(): number;
  /** Receives errors of background work. */
  onError(error: unknown): void;
}

/** Renditions being stored in the background. Beyond this number, they are served without being stored. */
const MAX_PENDING_PUTS = 16;
/** Client name that renewals count for. No client address looks like it. */
const RENEWALS = "renewals";

export function createRendering(options: RenderingOptions): Rendering {
  return new SharedRendering(options);
}

class SharedRendering implements Rendering {
  readonly #options: RenderingOptions;
  readonly #make: MakeRendition;
  readonly #shared: SharedWork;
  readonly #renewals: Renewals;
  readonly #barred: BarredPictures;
  readonly #pendingPuts = new Set<Promise<void>>();

  constructor(options: RenderingOptions) {
    const { leases, renditions, renderer, now, onError } = options;
    this.#options = options;
    this.#make = createRenditionMaker(options);
    this.#shared = createSharedWork({ leases, onError });
    this.#renewals = createRenewals(onError);
    this.#barred = createBarredPictures({
      renditions,
      build: renderer.build,
      put: (image, key, bytes) => this.#putUnlessRemoved(image, key, bytes),
      now,
    });
  }

  once(record: ImageRecord, spec: RenditionSpec, turn: Turn): Promise<HotBytes | null> {
    const { renditions } = this.#options;
    const key = keyFor(record.id, spec);
    const isDone = async () => {
      const [failure, stamp, reason] = await Promise.all([
        renditions.get(this.#failureKey(record.id, spec)),
        storedStamp(renditions, key),
        this.#barred.reasonOf(record.id),
      ]);
      if (failure !== null) {
        throw new ServiceError("unsupported_media", (await readAll(failure.body)).toString("utf8"));
      }
      if (stamp === null && reason !== null) throw new ServiceError("too_costly", reason);
      return stamp !== null;
    };
    return this.#shared.once(
      key,
      { isDone, work: () => this.#makeAndStore(record, spec, turn) },
      turn.signal,
    );
  }

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

  async close(): Promise<void> {
    await this.#renewals.close();
    await Promise.all(this.#pendingPuts);
    await this.#shared.close();
  }

  /** One key per build: another build may succeed. */
  #failureKey(id: string, spec: RenditionSpec): string {
    return keyOf.failure(id, `${specName(spec)}.${this.#options.renderer.build}`);
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

  /** Stores a failure caused by the picture itself. */
  async #noteFailure(record: ImageRecord, spec: RenditionSpec, error: unknown): Promise<void> {
    const isCostly = isServiceError(error, "too_costly");
    if (isCostly || isServiceError(error, "unsupported_media")) {
      await this.#storeBehind(record, this.#failureKey(record.id, spec), Buffer.from(error.message, "utf8"));
    }
    if (isCostly) {
      await this.#barred.note(record, specName(spec), error.message).catch(this.#options.onError);
    }
  }

  /** Stores in the background. A rendition that cannot be stored is rendered again later. */
  #storeBehind(image: ImageRecord, key: string, bytes: Buffer): Promise<void> {
    if (this.#pendingPuts.size >= MAX_PENDING_PUTS) return Promise.resolve();
    const task = this.#putUnlessRemoved(image, key, bytes)
      .catch(this.#options.onError)
      .finally(() => this.#pendingPuts.delete(task));
    this.#pendingPuts.add(task);
    return task;
  }

  async #putUnlessRemoved(image: BoundedImage, key: string, bytes: Buffer): Promise<void> {
    const { bounds, originals, renditions } = this.#options;
    if (!(await bounds.store(image, key, bytes))) return;
    // No sweep would remove this blob if the image was removed during the write.
    if ((await originals.stat(keyOf.original(image.id))) !== null) return;
    await renditions.delete(key);
    bounds.deleted(image.id, key);
  }
}
