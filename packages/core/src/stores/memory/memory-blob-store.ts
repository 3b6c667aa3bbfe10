import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { checkOptions } from "../../check-options.ts";
import type { BlobInfo, BlobStore, RevisionProbe } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { type Options, preset, size } from "../../option-rules.ts";
import { checkBlobKey, checkListing, rangeWithin } from "../argument-checks.ts";
import { consumeBody, withBody } from "../blob-body.ts";

const RULES = {
  /**
   * Maximum total size of all blobs in bytes, from 1, including blobs being written. A `put` that needs more rejects
   * with `no_space`. A replaced blob counts until the new one is complete.
   * @default 268_435_456 (256 MiB)
   */
  maxBytes: preset(256 * 2 ** 20, size(1)),
};

export interface MemoryBlobStoreOptions extends Options<typeof RULES> {}

interface Blob {
  bytes: Buffer;
  revision: string;
}

/** A store in memory, with its optional abilities. */
export type MemoryBlobStore = BlobStore & RevisionProbe;

/**
 * Blobs in this process's memory: for tests, and for renditions that may be lost. Closing the store drops
 * them.
 */
export function createMemoryBlobStore(options: MemoryBlobStoreOptions = {}): MemoryBlobStore {
  return new MapStore(checkOptions("createMemoryBlobStore", options, RULES).maxBytes);
}

/** Its methods are own properties, so that a wrapper can spread it. */
class MapStore implements MemoryBlobStore {
  readonly #maxBytes: number;
  readonly #blobs = new Map<string, Blob>();
  // Two stores never create the same revision, so a revision of another store is never current by chance.
  readonly #origin = randomBytes(6).toString("base64url");
  #writes = 0;
  #usedBytes = 0;
  #isClosed = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  readonly put: BlobStore["put"] = (key, body, { ifRevision, signal } = {}) =>
    withBody(body, async () => {
      this.#find(key);
      signal?.throwIfAborted();
      this.#checkRevision(key, ifRevision);
      const bytes = await this.#receive(body, signal);
      try {
        signal?.throwIfAborted();
        return this.#commit(key, bytes, ifRevision);
      } catch (error) {
        this.#usedBytes -= bytes.length;
        throw error;
      }
    });

  readonly get: BlobStore["get"] = async (key, { range, signal } = {}) => {
    const blob = this.#find(key);
    signal?.throwIfAborted();
    if (blob === undefined) return null;
    const size = blob.bytes.length;
    const { start, end } = range === undefined ? { start: 0, end: size - 1 } : rangeWithin(range, size);
    // A copy, because the receiver may write into its Buffer.
    return { size, revision: blob.revision, body: Buffer.from(blob.bytes.subarray(start, end + 1)) };
  };

  readonly stat: BlobStore["stat"] = async (key) => {
    const blob = this.#find(key);
    return blob === undefined ? null : { size: blob.bytes.length, revision: blob.revision };
  };

  readonly delete: BlobStore["delete"] = async (key) => {
    this.#usedBytes -= this.#find(key)?.bytes.length ?? 0;
    return this.#blobs.delete(key);
  };

  readonly list: BlobStore["list"] = async (prefix, { cursor = "", limit = 1000 } = {}) => {
    this.#checkOpen();
    checkListing(prefix, limit);
    const rest = [...this.#blobs.keys()].filter((key) => key.startsWith(prefix) && key > cursor).sort();
    const keys = rest.slice(0, limit);
    const next = keys.at(-1);
    return rest.length > limit && next !== undefined ? { keys, cursor: next } : { keys };
  };

  readonly isCurrent: RevisionProbe["isCurrent"] = (key, revision) =>
    this.#blobs.get(key)?.revision === revision;

  readonly close: BlobStore["close"] = async () => {
    this.#isClosed = true;
    this.#blobs.clear();
  };

  #checkOpen(): void {
    if (this.#isClosed) throw new ServiceError("store_unavailable", "The store is closed");
  }

  #find(key: string): Blob | undefined {
    this.#checkOpen();
    checkBlobKey(key);
    return this.#blobs.get(key);
  }

  #checkRevision(key: string, ifRevision: string | null | undefined): void {
    if (ifRevision === undefined || (this.#find(key)?.revision ?? null) === ifRevision) return;
    throw new ServiceError("conflict", "The blob was changed by another writer");
  }

  #reserve(bytes: number): void {
    if (this.#usedBytes + bytes > this.#maxBytes)
      throw new ServiceError("no_space", "The memory store is full: delete blobs, or raise maxBytes");
    this.#usedBytes += bytes;
  }

  /** A copy of the body, whose length is reserved; if it rejects, the reservation is released. */
  async #receive(body: Uint8Array | Readable, signal: AbortSignal | undefined): Promise<Buffer> {
    if (body instanceof Uint8Array) {
      this.#reserve(body.byteLength);
      return Buffer.from(body);
    }
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      await consumeBody(body, signal, async (source) => {
        for await (const chunk of source) {
          // A copy. `from` accepts both types, its overloads only one at a time.
          const bytes = Buffer.from(chunk as Uint8Array);
          this.#reserve(bytes.length);
          size += bytes.length;
          chunks.push(bytes);
        }
      });
      return Buffer.concat(chunks, size);
    } catch (error) {
      this.#usedBytes -= size;
      throw error;
    }
  }

  #commit(key: string, bytes: Buffer, ifRevision: string | null | undefined): BlobInfo {
    const old = this.#find(key);
    this.#checkRevision(key, ifRevision);
    this.#writes += 1;
    const revision = `${this.#origin}.${this.#writes}`;
    this.#blobs.set(key, { bytes, revision });
    this.#usedBytes -= old?.bytes.length ?? 0;
    return { size: bytes.length, revision };
  }
}
