import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { BlobStore } from "../../contracts/blob-store.ts";

/** Size and hash of some bytes. */
export interface Digest {
  size: number;
  /** SHA-256, hex. */
  sha256: string;
}

/** A body that computes its digest while it is read. */
export interface Passing {
  body: Buffer | Readable;
  /** Digest of the bytes read. Call it when the body has ended. */
  digest(): Digest;
  /** The error that ended the source, or `null`. */
  failure(): unknown;
}

/** Wraps a body to compute its digest while it is read. */
export function passBy(source: Buffer | Readable, onBytes: (count: number) => void): Passing {
  const hash = createHash("sha256");
  let size = 0;
  let failed: unknown = null;
  const see = (chunk: Buffer) => {
    hash.update(chunk);
    size += chunk.length;
    onBytes(chunk.length);
  };
  async function* passing(stream: Readable): AsyncGenerator<Buffer> {
    const chunks = stream[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await chunks.next().catch((error) => {
          // Errors of the source only: an error of the receiver arrives at the `yield`.
          failed = error;
          throw error;
        });
        if (next.done) return;
        see(next.value);
        yield next.value;
      }
    } finally {
      stream.destroy();
    }
  }
  if (Buffer.isBuffer(source)) see(source);
  return {
    body: Buffer.isBuffer(source) ? source : Readable.from(passing(source), { objectMode: false }),
    digest: () => ({ size, sha256: hash.digest("hex") }),
    failure: () => failed,
  };
}

/**
 * The digest of a stored blob; `null`: no such key.
 * @param onBytes Awaited before more is read.
 */
export async function digestOf(
  store: BlobStore,
  key: string,
  onBytes?: (count: number) => Promise<void>,
): Promise<Digest | null> {
  const blob = await store.get(key);
  if (blob === null) return null;
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of Buffer.isBuffer(blob.body) ? [blob.body] : blob.body) {
    hash.update(chunk as Buffer); // Streams of a store yield Buffers.
    size += (chunk as Buffer).length;
    await onBytes?.((chunk as Buffer).length);
  }
  return { size, sha256: hash.digest("hex") };
}

export function digestIn(bytes: Buffer): Digest {
  return { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

export function isSame(one: Digest, other: Digest | null): boolean {
  return other !== null && one.size === other.size && one.sha256 === other.sha256;
}
