import { LRUCache } from "lru-cache";
import type { BlobStore, ByteRange, StoredBlob } from "../../contracts/blob-store.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import type { ServedFrom } from "../../contracts/observer.ts";
import type { Renderer, Rendition, RenditionSpec } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { type ImageRecord, keyOf } from "../image-record.ts";
import { openSource } from "../open-source.ts";
import { removeStored } from "../remove-stored.ts";
import { createBarredPictures, isBar } from "./barred-pictures.ts";
import type { Rank } from "./bounds/image-shelf.ts";
import { type BoundedImage, createRenditionBounds } from "./bounds/rendition-bounds.ts";
import type { Claim } from "./queue-order.ts";
import type { RenderScheduler, Turn } from "./render-scheduler.ts";
import { isSpecName, specName } from "./rendition-spec.ts";
import { createRenewals } from "./renewals.ts";
import { createSharedWork, type Made } from "./shared-work.ts";
import { createSingleFlight } from "./single-flight.ts";
import { readStamp, STAMP_BYTES, type Stamp, stamped, stampIn } from "./stored-rendition.ts";

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
  /** Whom the work counts for: the client's address as rate limits cut it, or an owner. */
  client: string;
  signal: AbortSignal;
}

/** Bytes in memory, and their entity tag with its quotes. */
export interface HotBytes {
  bytes: Buffer;
  etag: string;
}

/** Bytes ready to be sent, in whole or in part. */
export interface ServableBytes {
  size: number;
  /** Entity tag, quotes included. */
  etag: string;
  /** All bytes, or a range of them. Rejects with {@link BytesReplaced} when other bytes, or none, are there by now. */
  open(range?: ByteRange): Promise<StoredBlob["body"]>;
}

/** The bytes of a rendition were removed or replaced after they were found: find them again. */
export class BytesReplaced extends Error {}

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

/** Bodies up to this size are kept in memory and sent in one piece. */
const MAX_MEMORY_ENTRY_BYTES = 2 * 1024 * 1024;
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
  const flights = createSingleFlight<HotBytes | null>();
  const shared = createSharedWork({ leases: options.leases, onError });
  const renewals = createRenewals(onError);
  const pendingPuts = new Set<Promise<void>>();
  const bounds = createRenditionBounds({
    ...{ store: renditions, rankOf, now, onError },
    ...{ maxBytes: options.maxStoredBytes, idleDays: options.idleDays },
  });
  /** Of the flights, by their keys. */
  const claims = new Map<string, Claim>();
  const barred = createBarredPictures({ renditions, build: renderer.build, put: putUnlessRemoved, now });

  const keyFor = (id: string, spec: RenditionSpec | null) =>
    spec === null ? keyOf.original(id) : keyOf.rendition(id, specName(spec));

  /** A failure of this build may be none of the next. */
  const failureKey = (id: string, spec: RenditionSpec) =>
    keyOf.failure(id, `${specName(spec)}.${renderer.build}`);

  function keep(key: string, hot: HotBytes): ServableBytes {
    memory?.set(key, hot);
    return fromMemory(hot);
  }

  async function originalFromStore(record: ImageRecord, signal: AbortSignal): Promise<ServableBytes | null> {
    const key = keyOf.original(record.id);
    const etag = tagOf(record.id, null);
    if (record.size > MAX_MEMORY_ENTRY_BYTES) {
      const info = await originals.stat(key);
      if (info === null) return null;
      requireSize(key, info.size, record.size);
      return opening({ store: originals, key, etag, skip: 0, size: info.size, revision: null }, signal);
    }
    const blob = await originals.get(key, { signal });
    if (blob === null) return null;
    requireOpenSize(key, blob, record.size);
    return keep(key, { bytes: await readAll(blob.body), etag });
  }

  async function renditionFromStore(
    record: ImageRecord,
    spec: RenditionSpec,
    signal: AbortSignal,
  ): Promise<ServableBytes | null> {
    const key = keyFor(record.id, spec);
    const blob = await renditions.get(key, { signal });
    if (blob === null) return null;
    const isSmall = blob.size <= MAX_MEMORY_ENTRY_BYTES;
    const whole = isSmall ? await readAll(blob.body) : null;
    const stamp = whole === null ? await readStamp(blob) : stampIn(whole);
    if (stamp === null) return null;
    if (stamp.look < renderer.look(record.type, spec.format)) requestRenewal(record, spec);
    const etag = tagOf(record.id, spec, stamp.build);
    if (whole !== null) return keep(key, { bytes: whole.subarray(STAMP_BYTES), etag });
    const { size, revision } = blob;
    return opening(
      { store: renditions, key, etag, skip: STAMP_BYTES, size: size - STAMP_BYTES, revision },
      signal,
    );
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
    const stored =
      spec === null
        ? await originalFromStore(record, signal)
        : await renditionFromStore(record, spec, signal);
    if (stored !== null) noteUse(record.id, spec, key, "store");
    return stored;
  }

  function noteUse(id: string, spec: RenditionSpec | null, key: string, from: ServedFrom): void {
    served(from);
    if (spec !== null) bounds.used(id, key);
  }

  /** Of the stored rendition; `null`: none is stored. */
  async function storedStamp(key: string, signal?: AbortSignal): Promise<Stamp | null> {
    const range = { start: 0, end: STAMP_BYTES - 1 };
    try {
      const blob = await renditions.get(key, signal === undefined ? { range } : { range, signal });
      return blob === null ? null : await readStamp(blob);
    } catch (error) {
      // Empty bytes have no beginning: another program left them.
      if (isServiceError(error, "bad_request")) return null;
      throw error;
    }
  }

  /** Renders what nobody else has rendered or renders. `null`: somebody did, and stored it. */
  function renderOnce(record: ImageRecord, spec: RenditionSpec, turn: Turn): Promise<HotBytes | null> {
    const key = keyFor(record.id, spec);
    const task = {
      async isDone() {
        const [failure, stamp, reason] = await Promise.all([
          renditions.get(failureKey(record.id, spec)),
          storedStamp(key),
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
      const { bytes, build } = await make(record, spec, turn);
      const key = keyFor(record.id, spec);
      const hot = { bytes, etag: tagOf(record.id, spec, build) };
      memory?.set(key, hot);
      const look = renderer.look(record.type, spec.format);
      return { value: hot, stored: storeBehind(record, key, stamped({ look, build }, bytes)) };
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

  /** Renders from the intermediate where there is one, else from the original. */
  async function make(
    record: ImageRecord,
    spec: RenditionSpec,
    turn: Turn,
  ): Promise<{ bytes: Buffer; build: string }> {
    const isIndirect = renderer.usesIntermediate?.(record, spec) ?? false;
    const made = isIndirect ? await makeFromIntermediate(record, spec, turn) : null;
    if (made !== null) return made;
    const { bytes, intermediate } = await makeFromOriginal(record, spec, turn);
    if (intermediate !== undefined) {
      const stamp = { look: renderer.look(record.type, spec.format), build: renderer.build };
      void storeBehind(record, intermediateKey(record.id, spec), stamped(stamp, intermediate));
    }
    return { bytes, build: renderer.build };
  }

  async function makeFromOriginal(record: ImageRecord, spec: RenditionSpec, turn: Turn): Promise<Rendition> {
    const key = keyOf.original(record.id);
    const opened = await openSource(originals, key);
    if (opened === null) throw new OriginalMissing();
    requireSize(key, opened.size, record.size);
    return scheduler.render(opened.source, record, spec, turn);
  }

  /** `null`: there is no intermediate that looks as it should, or it cannot be read. */
  async function makeFromIntermediate(record: ImageRecord, spec: RenditionSpec, turn: Turn) {
    const key = intermediateKey(record.id, spec);
    const blob = await renditions.get(key, { signal: turn.signal });
    if (blob === null) return null;
    const whole = await readAll(blob.body);
    const stamp = stampIn(whole);
    if (stamp === null || stamp.look < renderer.look(record.type, spec.format)) return null;
    const source = { bytes: whole.subarray(STAMP_BYTES) };
    try {
      const { bytes } = await scheduler.render(source, record, spec, { ...turn, fromIntermediate: true });
      const isOurs = stamp.build === renderer.build;
      return { bytes, build: isOurs ? renderer.build : `${renderer.build}-${stamp.build}` };
    } catch (error) {
      if (!isServiceError(error, "unsupported_media")) throw error;
      onError(error);
      return null;
    }
  }

  function requestRenewal(record: ImageRecord, spec: RenditionSpec): void {
    const key = keyFor(record.id, spec);
    renewals.request(key, async (signal) => {
      const turn: Turn = { kind: "background", claim: claimOf(RENEWALS), signal };
      const look = renderer.look(record.type, spec.format);
      const isDone = async () => ((await storedStamp(key, signal))?.look ?? look) >= look;
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

  /** Joins the render under way, or starts it. `null`: it is stored by now, or was refused for the sake of another client. */
  async function fly(
    record: ImageRecord,
    spec: RenditionSpec,
    reader: Reader,
    mayRetry: boolean,
  ): Promise<HotBytes | null> {
    const key = keyFor(record.id, spec);
    const theirs = claims.get(key);
    if (theirs !== undefined) scheduler.join(theirs, reader.client);
    let isOwn = false;
    const start = async (signal: AbortSignal) => {
      isOwn = true;
      const claim = claimOf(reader.client);
      claims.set(key, claim);
      try {
        return await renderOnce(record, spec, { kind: "render", claim, signal });
      } finally {
        if (claims.get(key) === claim) claims.delete(key);
      }
    };
    try {
      return await flights.join(key, start, reader.signal);
    } catch (error) {
      if (isOwn || !mayRetry || !isServiceError(error, "rate_limited")) throw error;
      return null;
    }
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
          const made = await fly(record, spec, reader, joins < MAX_JOINS);
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
      const stored = await renditionFromStore(record, spec, signal);
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

function claimOf(client: string): Claim {
  return { clients: new Set([client]) };
}

/** The record is there and its bytes are not: just removed, or lost. */
class OriginalMissing extends Error {}

/** Names the bytes: the key of a rendition, and the build that made them. No two sequences of bytes have the same. */
function tagOf(id: string, spec: RenditionSpec | null, build = ""): string {
  return spec === null ? `"${id}.original"` : `"${id}.${specName(spec)}.${build}"`;
}

/** Beside the renditions, one per page. */
function intermediateKey(id: string, { page = 1 }: RenditionSpec): string {
  return keyOf.rendition(id, `intermediate-p${page}`);
}

/** Intermediates are dear to make, and a bar must outlast what a client asks for; a name of an earlier release is not asked for any more. */
function rankOf(key: string): Rank {
  const [, part, name = ""] = key.split("/");
  if (name.startsWith("intermediate-") || isBar(key)) return "last";
  return part === "failures" || isSpecName(name) ? "inTurn" : "first";
}

function fromMemory({ bytes, etag }: HotBytes): ServableBytes {
  return {
    size: bytes.length,
    etag,
    open: async (range) => (range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)),
  };
}

/** Bytes in a store. */
interface Stored {
  store: BlobStore;
  key: string;
  etag: string;
  /** Bytes before those that are served. */
  skip: number;
  /** Of what is served. */
  size: number;
  /** Of the blob; `null`: it is never replaced. */
  revision: string | null;
}

function opening({ store, key, etag, skip, size, revision }: Stored, signal: AbortSignal): ServableBytes {
  return {
    size,
    etag,
    async open({ start, end } = { start: 0, end: size - 1 }) {
      const isWhole = skip === 0 && start === 0 && end === size - 1;
      const range = { start: start + skip, end: end + skip };
      const blob = await store.get(key, isWhole ? { signal } : { range, signal });
      if (blob === null) throw new BytesReplaced(`The bytes of ${key} are gone`);
      if (revision !== null && blob.revision !== revision) {
        if (!Buffer.isBuffer(blob.body)) blob.body.destroy();
        throw new BytesReplaced(`The bytes of ${key} were replaced`);
      }
      requireOpenSize(key, blob, size + skip);
      return blob.body;
    },
  };
}

/** Rejects with `damaged` when a blob has another size than it should have: what is served of it would be cut. */
function requireSize(key: string, size: number, expected: number): void {
  if (size === expected) return;
  const [id = ""] = key.split("/");
  const what = `The stored bytes of image ${id} (key "${key}")`;
  throw new ServiceError(
    "damaged",
    `${what} are damaged: ${size} bytes are there, and should be ${expected}`,
  );
}

/** As {@link requireSize}, of an open blob, which is closed then. */
function requireOpenSize(key: string, { size, body }: StoredBlob, expected: number): void {
  try {
    requireSize(key, size, expected);
  } catch (error) {
    if (!Buffer.isBuffer(body)) body.destroy();
    throw error;
  }
}
