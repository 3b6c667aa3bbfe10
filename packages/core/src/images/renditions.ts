import { LRUCache } from "lru-cache";
import type { BlobStore, ByteRange, StoredBlob } from "../contracts/blob-store.ts";
import type { LeaseStore } from "../contracts/lease-store.ts";
import type { ServedFrom } from "../contracts/observer.ts";
import type { Renderer, RenditionSpec } from "../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../errors.ts";
import { readAll } from "../stores/read-all.ts";
import { type ImageRecord, keyOf } from "./image-record.ts";
import { openSource } from "./open-source.ts";
import { removeStored } from "./remove-stored.ts";
import { specName } from "./rendition-spec.ts";
import { createSharedWork, type Made } from "./shared-work.ts";
import { createSingleFlight } from "./single-flight.ts";

export interface RenditionsOptions {
  /** The leases of those that render; `null`: none. See {@link SharedWorkOptions.leases}. */
  leases(): Promise<LeaseStore | null>;
  originals: BlobStore;
  renditions: BlobStore;
  renderer: Renderer;
  /** Bytes of renditions and small originals to keep in memory, at least 0. */
  memoryBytes: number;
  /** Told of what went wrong behind a reply that was not harmed by it. */
  onError(error: unknown): void;
  /** Told where a picture came from. */
  served(from: ServedFrom): void;
}

/** Bytes ready to be sent, in whole or in part. */
export interface ServableBytes {
  size: number;
  /** All bytes, or a range of them. */
  open(range?: ByteRange): Promise<StoredBlob["body"]>;
}

export interface Renditions {
  /** From memory, at once; `undefined` says nothing about the store. */
  peek(id: string, spec: RenditionSpec | null): Buffer | undefined;
  /**
   * The bytes of a rendition, or of the original for `null`: from memory, the store, or rendered now, by one of all processes
   * that share the store. `null` when the original is not there. Rejects as {@link Renderer.render} does, and with `overloaded`
   * when another process takes too long; a failure by the picture itself is remembered. Rejects with `damaged` when the
   * original has another size than its record says.
   */
  get(record: ImageRecord, spec: RenditionSpec | null, signal: AbortSignal): Promise<ServableBytes | null>;
  /** Removes all bytes of an image from memory and both stores. */
  remove(id: string): Promise<void>;
  /** Entity tag of a rendition, quotes included. */
  etag(record: ImageRecord, spec: RenditionSpec | null): string;
  /** Waits for what is still being stored. */
  close(): Promise<void>;
}

/** Bodies up to this size are kept in memory and sent in one piece. */
const MAX_MEMORY_ENTRY_BYTES = 2 * 1024 * 1024;
/** Renditions being stored behind their replies; beyond it they are served without being kept. */
const MAX_PENDING_PUTS = 16;
/** Stored renditions per image. Whoever asks for more sizes than this pays for each render. */
const MAX_STORED_PER_IMAGE = 256;

export function createRenditions(options: RenditionsOptions): Renditions {
  const { originals, renditions, renderer, onError, served } = options;
  const memory =
    options.memoryBytes > 0
      ? new LRUCache<string, Buffer>({
          maxSize: options.memoryBytes,
          maxEntrySize: MAX_MEMORY_ENTRY_BYTES,
          sizeCalculation: (bytes) => bytes.length + 1,
        })
      : null;
  const flights = createSingleFlight<Buffer | null>();
  const shared = createSharedWork({ leases: options.leases, onError });
  const pendingPuts = new Set<Promise<void>>();

  const nameOf = (spec: RenditionSpec) => `${specName(spec)}-${renderer.build}`;
  const keyFor = (id: string, spec: RenditionSpec | null) =>
    spec === null ? keyOf.original(id) : keyOf.rendition(id, nameOf(spec));

  function fromBuffer(bytes: Buffer): ServableBytes {
    return {
      size: bytes.length,
      open: async (range) => (range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)),
    };
  }

  /** Bytes of a blob, a small one read at once. @param expected what is known of its size; `null` where nothing is. */
  async function fromStore(
    store: BlobStore,
    key: string,
    expected: number | null,
    signal: AbortSignal,
  ): Promise<ServableBytes | null> {
    if (expected !== null && expected > MAX_MEMORY_ENTRY_BYTES) {
      const info = await store.stat(key);
      if (info === null) return null;
      requireSize(key, info.size, expected);
      return opening(store, key, info.size, signal);
    }
    const blob = await store.get(key, { signal });
    if (blob === null) return null;
    requireOpenSize(key, blob, expected ?? blob.size);
    if (blob.size <= MAX_MEMORY_ENTRY_BYTES) {
      const bytes = await readAll(blob.body);
      memory?.set(key, bytes);
      return fromBuffer(bytes);
    }
    // Nobody has said yet which bytes are wanted; renditions are seldom so large.
    if (!Buffer.isBuffer(blob.body)) blob.body.destroy();
    return opening(store, key, blob.size, signal);
  }

  function opening(store: BlobStore, key: string, size: number, signal: AbortSignal): ServableBytes {
    return {
      size,
      async open(range) {
        const blob = await store.get(key, range === undefined ? { signal } : { range, signal });
        if (blob === null) throw new ServiceError("store_unavailable", `The bytes of ${key} went away`);
        requireOpenSize(key, blob, size);
        return blob.body;
      },
    };
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
      served("memory");
      return fromBuffer(hot);
    }
    const stored =
      spec === null
        ? await fromStore(originals, key, record.size, signal)
        : await fromStore(renditions, key, null, signal);
    if (stored !== null) served("store");
    return stored;
  }

  /** Renders what nobody else has rendered or renders. `null`: somebody did, and stored it. */
  function renderOnce(record: ImageRecord, spec: RenditionSpec, signal: AbortSignal): Promise<Buffer | null> {
    const name = nameOf(spec);
    const key = keyOf.rendition(record.id, name);
    const task = {
      async isDone() {
        const [failure, info] = await Promise.all([
          renditions.get(keyOf.failure(record.id, name)),
          renditions.stat(key),
        ]);
        if (failure === null) return info !== null;
        throw new ServiceError("unsupported_media", (await readAll(failure.body)).toString("utf8"));
      },
      work: () => render(record, spec, signal),
    };
    return shared.once(key, task, signal);
  }

  async function render(
    record: ImageRecord,
    spec: RenditionSpec,
    signal: AbortSignal,
  ): Promise<Made<Buffer>> {
    const name = nameOf(spec);
    const original = keyOf.original(record.id);
    const opened = await openSource(originals, original);
    if (opened === null) throw new OriginalMissing();
    requireSize(original, opened.size, record.size);
    try {
      const { bytes } = await renderer.render(opened.source, record.type, spec, { signal });
      const key = keyOf.rendition(record.id, name);
      memory?.set(key, bytes);
      return { value: bytes, stored: storeBehind(record.id, key, bytes) };
    } catch (error) {
      if (isServiceError(error, "unsupported_media")) {
        await storeBehind(record.id, keyOf.failure(record.id, name), Buffer.from(error.message, "utf8"));
      }
      throw error;
    }
  }

  /** Stores what the reply does not wait for. A rendition that cannot be stored is only rendered again. */
  function storeBehind(id: string, key: string, bytes: Buffer): Promise<void> {
    if (pendingPuts.size >= MAX_PENDING_PUTS) return Promise.resolve();
    const task = (async () => {
      const { keys } = await renditions.list(`${id}/`, {
        limit: MAX_STORED_PER_IMAGE + 4,
      });
      if (keys.length >= MAX_STORED_PER_IMAGE) return;
      await renditions.put(key, bytes);
      // The image may have been removed meanwhile: what was put after that would stay for ever.
      if ((await originals.stat(keyOf.original(id))) === null) await renditions.delete(key);
    })()
      .catch(onError)
      .finally(() => pendingPuts.delete(task));
    pendingPuts.add(task);
    return task;
  }

  return {
    peek(id, spec) {
      const hot = memory?.get(keyFor(id, spec));
      if (hot !== undefined) served("memory");
      return hot;
    },
    async get(record, spec, signal) {
      try {
        for (;;) {
          const found = await find(record, spec, signal);
          if (found !== null || spec === null) return found;
          const bytes = await flights.join(
            keyFor(record.id, spec),
            (workSignal) => renderOnce(record, spec, workSignal),
            signal,
          );
          if (bytes === null) continue;
          served("render");
          return fromBuffer(bytes);
        }
      } catch (error) {
        if (error instanceof OriginalMissing) return null;
        throw error;
      }
    },
    async remove(id) {
      for (const key of memory?.keys() ?? []) if (key.startsWith(`${id}/`)) memory?.delete(key);
      await removeStored({ originals, renditions }, id);
    },
    etag: (record, spec) => `"${record.id}.${spec === null ? "original" : nameOf(spec)}"`,
    async close() {
      await Promise.all(pendingPuts);
      await shared.close();
    },
  };
}

/** The record is there and its bytes are not: just removed, or lost. */
class OriginalMissing extends Error {}

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
