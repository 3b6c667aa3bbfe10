import type { BlobStore, ByteRange, StoredBlob } from "../../contracts/blob-store.ts";
import type { RenditionSpec } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { specName } from "./rendition-spec.ts";

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

/** Names the bytes: the key of a rendition, and the build that made them. No two sequences of bytes have the same. */
export function tagOf(id: string, spec: RenditionSpec | null, build = ""): string {
  return spec === null ? `"${id}.original"` : `"${id}.${specName(spec)}.${build}"`;
}

/** Bytes that are all there. */
export function fromMemory({ bytes, etag }: HotBytes): ServableBytes {
  return {
    size: bytes.length,
    etag,
    open: async (range) => (range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)),
  };
}

/** Bytes in a store. */
export interface StoredBytes {
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

/** Bytes that are opened when they are wanted. */
export function fromStore(
  { store, key, etag, skip, size, revision }: StoredBytes,
  signal: AbortSignal,
): ServableBytes {
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
export function requireSize(key: string, size: number, expected: number): void {
  if (size === expected) return;
  const [id = ""] = key.split("/");
  const what = `The stored bytes of image ${id} (key "${key}")`;
  throw new ServiceError(
    "damaged",
    `${what} are damaged: ${size} bytes are there, and should be ${expected}`,
  );
}

/** As {@link requireSize}, of an open blob, which is closed then. */
export function requireOpenSize(key: string, { size, body }: StoredBlob, expected: number): void {
  try {
    requireSize(key, size, expected);
  } catch (error) {
    if (!Buffer.isBuffer(body)) body.destroy();
    throw error;
  }
}
