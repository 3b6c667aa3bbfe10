import type { BlobStore, ByteRange, StoredBlob } from "../../contracts/blob-store.ts";
import type { RenditionSpec } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { specName } from "./spec-name.ts";

/** Bytes in memory, and their entity tag, quotes included. */
export interface HotBytes {
  bytes: Buffer;
  etag: string;
}

/** Bytes ready to be sent, in whole or in part. */
export interface ServableBytes {
  size: number;
  /** Entity tag, quotes included. */
  etag: string;
  /** Opens all bytes, or a range. Rejects with {@link BytesReplaced} if they were replaced or removed meanwhile. */
  open(range?: ByteRange): Promise<StoredBlob["body"]>;
}

/** The bytes of a rendition were removed or replaced after they were found. Find them again. */
export class BytesReplaced extends Error {}

/** The entity tag: the key of a rendition and the build that made its bytes. Different bytes never share a tag. */
export function tagOf(id: string, spec: RenditionSpec | null, build = ""): string {
  return spec === null ? `"${id}.original"` : `"${id}.${specName(spec)}.${build}"`;
}

/** Servable bytes from memory. */
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
  /** Length of the header before the served bytes. */
  skip: number;
  /** Length of the served bytes. */
  size: number;
  /** Revision of the blob; `null`: it is never replaced. */
  revision: string | null;
}

/** Servable bytes from a store, opened on demand. */
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

/** Throws `damaged` if the size of a blob differs from its record: its bytes would be served incomplete. */
export function requireSize(key: string, size: number, expected: number): void {
  if (size === expected) return;
  const [id = ""] = key.split("/");
  const what = `The stored bytes of image ${id} (key "${key}")`;
  throw new ServiceError("damaged", `${what} are damaged: found ${size} bytes, expected ${expected}`);
}

/** Like {@link requireSize}, for an open blob. Closes it before it throws. */
export function requireOpenSize(key: string, { size, body }: StoredBlob, expected: number): void {
  try {
    requireSize(key, size, expected);
  } catch (error) {
    if (!Buffer.isBuffer(body)) body.destroy();
    throw error;
  }
}
