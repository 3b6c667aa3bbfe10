import { LRUCache } from "lru-cache";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import type { ServedFrom } from "../../contracts/observer.ts";
import type { Renderer, RenditionSpec } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { createBarredPictures, isBar } from "./barred-pictures.ts";
import type { Rank } from "./bounds/image-shelf.ts";
import { type BoundedImage, createRenditionBounds } from "./bounds/rendition-bounds.ts";
import { findOriginal, findRendition, keyFor, MAX_MEMORY_ENTRY_BYTES } from "./find-stored.ts";
import { createRenditionMaker, intermediateKey, isIntermediate, OriginalMissing } from "./make-rendition.ts";
import { type Claim, HOST_CLIENT } from "./queue-order.ts";
import { removeStored } from "./remove-stored.ts";
import { claimOf, createRenderFlights } from "./render-flights.ts";
import type { RenderScheduler, Turn } from "./render-scheduler.ts";
import { isSpecName, specName } from "./rendition-spec.ts";
import { createRenewals } from "./renewals.ts";
import { fromMemory, type HotBytes, type ServableBytes, tagOf } from "./servable-bytes.ts";
import { createSharedWork, type Made } from "./shared-work.ts";
import { stamped, storedStamp } from "./stored-rendition.ts";

export interface RenditionsOptions {
  /** The leases of those that render; `null`: none. See {@link SharedWorkOptions.leases}. */
  leases(): Promise<LeaseStore | null>;
  originals: BlobStore;
  renditions: BlobStore;
  renderer: Renderer;
  /** The same renderer, as its clients share it. */
  scheduler: RenderScheduler;
  /** Bytes of renditions and small originals to keep in memory, at least 0. */
  memoryBytes: number;
  /** Bytes of all stored renditions; `null`: any. */
  maxStoredBytes: number | null;
  /** Days after its last use in which an image keeps its stored renditions; `null`: for ever. */
  idleDays: number | null;
  /** The time in Unix milliseconds. */
  now(): number;
  /** Called with what went wrong behind a reply that was not harmed by it. */
  onError(error: unknown): void;
  /** Called with where a picture came from. */
  served(from: ServedFrom): void;
}

/** For whom a picture is read. */
export interface Reader {
  /** The client that the work counts for: its address as rate limits cut it, an owner, or the host app. */
  client: string;
  signal: AbortSignal;
}

export interface Renditions {
  /** From memory, at once; `undefined` says nothing about the store. */
  peek(id: string, spec: RenditionSpec | null): HotBytes | undefined;
  /** As {@link get}, but renders nothing: `null` also for a rendition that is not stored. */
  find(record: ImageRecord, spec: RenditionSpec | null, signal: AbortSignal): Promise<ServableBytes | null>;
  /**
   * The bytes of a rendition, or of the original for `null`: from memory, the store, or rendered now, by one of all processes
   * that share the store. `null` when the original is not there. Rejects as {@link Renderer.render} does, and with `overloaded`
   * when another process takes too long; a failure by the picture itself is remembered, and a picture that is too costly in
   * two renditions is barred from others for an hour. Rejects with `rate_limited` a client with too much in line, or without
   * budget. Rejects with `damaged` when the original has another size than its record says.
   */
  get(record: ImageRecord, spec: RenditionSpec | null, reader: Reader): Promise<ServableBytes | null>;
  /** Removes all bytes of an image from memory and both stores. */
  remove(id: string): Promise<void>;
  /** Removes stored renditions that are idle, or too many. @param mayGoOn from `false` on nothing else is removed. */
  sweep(mayGoOn: () => boolean): Promise<void>;
  /**
   * The entity tag, quotes included, as far as it is known without a look at the store: of the bytes in memory, of the
   * original, or the one that this build gives.
   */
  expectedEtag(record: ImageRecord, spec: RenditionSpec | null): string;
  /**
   * The entity tag of the bytes in memory or in the store; the one that this build gives where there are none. Small bytes
   * are kept in memory then: a client that revalidates is seldom the only one.
   */
  etag(record: ImageRecord, spec: RenditionSpec | null, signal: AbortSignal): Promise<string>;
  /** Waits for what is still being stored. */
  close(): Promise<void>;
}

/** Renditions being stored behind their replies; beyond it they are served without being kept. */
const MAX_PENDING_PUTS = 16;
/** Whom renewals count for: no address is spelt so. */
const RENEWALS = "renewals";
/** How often a client joins the work of others that is then refused for their sake, before it shares their refusal. */
const MAX_JOINS = 3;

export function createRenditions(options: RenditionsOptions): Renditions {
  const { originals, renditions, renderer, scheduler, onError, served, now } = options;
  const memory =
    options.memoryBytes > 0
      ? new LRUCache<string, HotBytes>({
          maxSize: options.memoryBytes,
          maxEntrySize: MAX_MEMORY_ENTRY_BYTES,
          sizeCalculation: ({ bytes }) => bytes.length + 1,
        })
      : null;
  const flights = createRenderFlights<HotBytes | null>(scheduler);
  const shared = createSharedWork({ leases: options.leases, onError });
  const renewals = createRenewals(onError);
  const pendingPuts = new Set<Promise<void>>();
  const bounds = createRenditionBounds({
    ...{ store: renditions, rankOf, now, onError },
    ...{ maxBytes: options.maxStoredBytes, idleDays: options.idleDays },
  });
  const make = createRenditionMaker({ originals, renditions, renderer, scheduler });
  const barred = createBarredPictures({ renditions, build: renderer.build, put: putUnlessRemoved, now });

  /** A failure of this build may be none of the next. */
  const failureKey = (id: string, spec: RenditionSpec) =>
    keyOf.failure(id, `${specName(spec)}.${renderer.build}`);

  async function fromStores(
    record: ImageRecord,
    spec: RenditionSpec | null,
    signal: AbortSignal,
  ): Promise<ServableBytes | null> {
    const found = await (spec === null
      ? findOriginal({ originals }, record, signal)
      : findRendition({ renditions }, record.id, spec, signal));
    if (found === null) return null;
    const { servable, hot, stamp } = found;
    if (hot !== null) memory?.set(keyFor(record.id, spec), hot);
    if (spec !== null && stamp !== null && stamp.look < renderer.look(record.type, spec.format)) {
      requestRenewal(record, spec);
    }
    return servable;
  }

  /** From memory or the store. */
  async function find(
    record: ImageRecord,
    spec: RenditionSpec | null,
    signal: AbortSignal,
  ): Promise<ServableBytes | null> {
    const key = keyFor(record.id, spec);
    const hot = memory?.get(key);
    if (hot !== undefined) {
      noteUse(record.id, spec, key, "memory");
      return fromMemory(hot);
    }
    const stored = await fromStores(record, spec, signal);
    if (stored !== null) noteUse(record.id, spec, key, "store");
    return stored;
  }

  function noteUse(id: string, spec: RenditionSpec | null, key: string, from: ServedFrom): void {
    served(from);
    if (spec !== null) bounds.used(id, key);
  }

  /** Renders unless another process has rendered it or does so now. `null`: it is stored by then. */
  function renderOnce(record: ImageRecord, spec: RenditionSpec, turn: Turn): Promise<HotBytes | null> {
    const key = keyFor(record.id, spec);
    const task = {
      async isDone() {
        const [failure, stamp, reason] = await Promise.all([
          renditions.get(failureKey(record.id, spec)),
          storedStamp(renditions, key),
          barred.reasonOf(record.id),
        ]);
        if (failure !== null) {
          throw new ServiceError("unsupported_media", (await readAll(failure.body)).toString("utf8"));
        }
        if (stamp === null && reason !== null) throw new ServiceError("too_costly", reason);
        return stamp !== null;
      },
      work: () => makeAndStore(record, spec, turn),
    };
    return shared.once(key, task, turn.signal);
  }

  async function makeAndStore(record: ImageRecord, spec: RenditionSpec, turn: Turn): Promise<Made<HotBytes>> {
    try {
      const { bytes, stamp, intermediate } = await make(record, spec, turn);
      if (intermediate !== undefined) {
        void storeBehind(record, intermediateKey(record.id, spec), stamped(stamp, intermediate));
      }
      const key = keyFor(record.id, spec);
      const hot = { bytes, etag: tagOf(record.id, spec, stamp.build) };
      memory?.set(key, hot);
      return { value: hot, stored: storeBehind(record, key, stamped(stamp, bytes)) };
    } catch (error) {
      if (isServiceError(error, "unsupported_media") || isServiceError(error, "too_costly")) {
        await storeBehind(record, failureKey(record.id, spec), Buffer.from(error.message, "utf8"));
      }
      if (isServiceError(error, "too_costly")) {
        await barred.note(record, specName(spec), error.message).catch(onError);
      }
      throw error;
    }
  }

  function requestRenewal(record: ImageRecord, spec: RenditionSpec): void {
    const key = keyFor(record.id, spec);
    renewals.request(key, async (signal) => {
      const turn: Turn = { kind: "background", claim: claimOf(RENEWALS), signal };
      const look = renderer.look(record.type, spec.format);
      const isDone = async () => ((await storedStamp(renditions, key, signal))?.look ?? look) >= look;
      await shared.once(key, { isDone, work: () => makeAndStore(record, spec, turn) }, signal);
    });
  }

  /** Stores what the reply does not wait for. A rendition that cannot be stored is only rendered again. */
  function storeBehind(image: ImageRecord, key: string, bytes: Buffer): Promise<void> {
    if (pendingPuts.size >= MAX_PENDING_PUTS) return Promise.resolve();
    const task = putUnlessRemoved(image, key, bytes)
      .catch(onError)
      .finally(() => pendingPuts.delete(task));
    pendingPuts.add(task);
    return task;
  }

  async function putUnlessRemoved(image: BoundedImage, key: string, bytes: Buffer): Promise<void> {
    if (!(await bounds.store(image, key, bytes))) return;
    // The image may have been removed meanwhile: what was put after that would stay for ever.
    if ((await originals.stat(keyOf.original(image.id))) !== null) return;
    await renditions.delete(key);
    bounds.deleted(image.id, key);
  }

  return {
    peek(id, spec) {
      const key = keyFor(id, spec);
      const hot = memory?.get(key);
      if (hot !== undefined) noteUse(id, spec, key, "memory");
      return hot;
    },
    find,
    async get(record, spec, reader) {
      try {
        for (let joins = 1; ; joins++) {
          const found = await find(record, spec, reader.signal);
          if (found !== null || spec === null) return found;
          const render = (claim: Claim, signal: AbortSignal) =>
            renderOnce(record, spec, { kind: "render", claim, signal });
          const key = keyFor(record.id, spec);
          // The bounds of the clients that it joins do not hold for a call in code.
          const mayRetry = joins < MAX_JOINS || reader.client === HOST_CLIENT;
          const made = await flights.join(key, reader, render, mayRetry);
          if (made === null) continue;
          served("render");
          return fromMemory(made);
        }
      } catch (error) {
        if (error instanceof OriginalMissing) return null;
        throw error;
      }
    },
    async remove(id) {
      for (const key of memory?.keys() ?? []) if (key.startsWith(`${id}/`)) memory?.delete(key);
      await removeStored({ originals, renditions }, id);
      bounds.removed(id);
    },
    sweep: (mayGoOn) => bounds.keep(mayGoOn),
    expectedEtag(record, spec) {
      return memory?.get(keyFor(record.id, spec))?.etag ?? tagOf(record.id, spec, renderer.build);
    },
    async etag(record, spec, signal) {
      const hot = memory?.get(keyFor(record.id, spec));
      if (hot !== undefined || spec === null) return hot?.etag ?? tagOf(record.id, spec);
      const stored = await fromStores(record, spec, signal);
      return stored?.etag ?? tagOf(record.id, spec, renderer.build);
    },
    async close() {
      await renewals.close();
      await Promise.all(pendingPuts);
      await shared.close();
      await bounds.close().catch(onError);
    },
  };
}

/** Intermediates are dear to make, and a bar must outlast what a client asks for; a name of an earlier release is not asked for any more. */
function rankOf(key: string): Rank {
  const [, part, name = ""] = key.split("/");
  if (isIntermediate(key) || isBar(key)) return "last";
  return part === "failures" || isSpecName(name) ? "inTurn" : "first";
}
