import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { checkOptions } from "../../check-options.ts";
import type {
  BlobInfo,
  BlobStore,
  KeyPage,
  RangeListing,
  RevisionProbe,
} from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { preset, type RuleTable, whole } from "../../option-rules.ts";
import { checkBlobKey, checkKeyRange, checkListing, rangeWithin } from "../argument-checks.ts";

export interface MemoryBlobStoreOptions {
  /**
   * Maximum total size of all blobs in bytes, including those being written; an integer of at least 1. A
   * `put` that needs more rejects with `no_space`. As on a disk, the old blob counts until it is replaced.
   * @default 268_435_456 (256 MiB)
   */
  maxBytes?: number | undefined;
}

const RULES = { maxBytes: preset(256 * 2 ** 20, whole(1)) } satisfies RuleTable<MemoryBlobStoreOptions>;

interface Blob {
  bytes: Buffer;
  revision: string;
}

/**
 * Blobs in this process's memory: for tests, and for renditions that may be lost. Closing the store drops
 * them.
 */
export function createMemoryBlobStore(
  options: MemoryBlobStoreOptions = {},
): BlobStore & RevisionProbe & RangeListing {
  const { maxBytes } = checkOptions("createMemoryBlobStore", options, RULES);
  const blobs = new Map<string, Blob>();
  // Two stores never create the same revision, so a revision of another store is never current by chance.
  const origin = randomBytes(6).toString("base64url");
  let writes = 0;
  let usedBytes = 0;
  let closed = false;

  function checkOpen(): void {
    if (closed) throw new ServiceError("store_unavailable", "The store is closed");
  }

  function find(key: string): Blob | undefined {
    checkOpen();
    checkBlobKey(key);
    return blobs.get(key);
  }

  function checkRevision(key: string, ifRevision: string | null | undefined): void {
    if (ifRevision === undefined || (find(key)?.revision ?? null) === ifRevision) return;
    throw new ServiceError("conflict", "The blob was changed by another writer");
  }

  function reserve(bytes: number): void {
    if (usedBytes + bytes > maxBytes)
      throw new ServiceError("no_space", "The memory store is full: delete blobs, or raise maxBytes");
    usedBytes += bytes;
  }

  /** A copy of the body, whose length is reserved; if it rejects, the reservation is released. */
  async function receive(body: Uint8Array | Readable, signal: AbortSignal | undefined): Promise<Buffer> {
    if (body instanceof Uint8Array) {
      reserve(body.byteLength);
      return Buffer.from(body);
    }
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      await pipeline(
        body,
        async (source: AsyncIterable<Uint8Array | string>) => {
          for await (const chunk of source) {
            // `from` accepts both types, its overloads only one at a time.
            const bytes = Buffer.from(chunk as Uint8Array);
            reserve(bytes.length);
            size += bytes.length;
            chunks.push(bytes);
          }
        },
        signal === undefined ? {} : { signal },
      );
      return Buffer.concat(chunks, size);
    } catch (error) {
      usedBytes -= size;
      signal?.throwIfAborted(); // `pipeline` wraps the reason.
      throw error;
    }
  }

  function commit(key: string, bytes: Buffer, ifRevision: string | null | undefined): BlobInfo {
    const old = find(key);
    checkRevision(key, ifRevision);
    writes += 1;
    const revision = `${origin}.${writes}`;
    blobs.set(key, { bytes, revision });
    usedBytes -= old?.bytes.length ?? 0;
    return { size: bytes.length, revision };
  }

  function pageOf(isWanted: (key: string) => boolean, limit: number): KeyPage {
    const rest = [...blobs.keys()].filter(isWanted).sort();
    const keys = rest.slice(0, limit);
    const next = keys.at(-1);
    return rest.length > limit && next !== undefined ? { keys, cursor: next } : { keys };
  }

  return {
    async put(key, body, { ifRevision, signal } = {}) {
      try {
        find(key);
        signal?.throwIfAborted();
        checkRevision(key, ifRevision);
      } catch (error) {
        if (!(body instanceof Uint8Array)) discard(body);
        throw error;
      }
      const bytes = await receive(body, signal);
      try {
        signal?.throwIfAborted();
        return commit(key, bytes, ifRevision);
      } catch (error) {
        usedBytes -= bytes.length;
        throw error;
      }
    },

    async get(key, { range, signal } = {}) {
      const blob = find(key);
      signal?.throwIfAborted();
      if (blob === undefined) return null;
      const size = blob.bytes.length;
      const { start, end } = range === undefined ? { start: 0, end: size - 1 } : rangeWithin(range, size);
      // A copy, because the receiver may write into its Buffer.
      return { size, revision: blob.revision, body: Buffer.from(blob.bytes.subarray(start, end + 1)) };
    },

    async stat(key) {
      const blob = find(key);
      return blob === undefined ? null : { size: blob.bytes.length, revision: blob.revision };
    },

    async delete(key) {
      const blob = find(key);
      usedBytes -= blob?.bytes.length ?? 0;
      return blobs.delete(key);
    },

    async list(prefix, { cursor = "", limit = 1000 } = {}) {
      checkOpen();
      checkListing(prefix, limit);
      return pageOf((key) => key.startsWith(prefix) && key > cursor, limit);
    },

    async listRange(range, { cursor, limit = 1000 } = {}) {
      checkOpen();
      checkKeyRange(range, limit);
      const { upTo } = range;
      const after = cursor ?? range.after ?? "";
      return pageOf((key) => key > after && (upTo === undefined || key <= upTo), limit);
    },

    isCurrent(key, revision) {
      return blobs.get(key)?.revision === revision;
    },

    async close() {
      closed = true;
      blobs.clear();
    },
  };
}

/** Destroys a stream that will not be read. */
function discard(stream: Readable): void {
  stream.on("error", () => undefined); // An unhandled error would end the process.
  stream.destroy();
}
