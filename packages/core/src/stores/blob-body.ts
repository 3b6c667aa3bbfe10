import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** The bytes of a blob's body as one Buffer; for bodies whose size is known to be modest. */
export async function readAll(body: Buffer | Readable): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer); // A store's streams yield Buffers.
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** A Buffer on the same memory; a text is encoded as UTF-8. */
export function asBuffer(chunk: Uint8Array | string): Buffer {
  if (typeof chunk === "string") return Buffer.from(chunk);
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

/** Runs work that consumes a body. A stream is destroyed when the work settles, also one that was never read. */
export async function withBody<T>(body: Uint8Array | Readable, work: () => Promise<T>): Promise<T> {
  if (body instanceof Uint8Array) return await work();
  // An error of the body before it is read must not crash the process: reading the body reports it.
  body.on("error", () => undefined);
  try {
    return await work();
  } finally {
    body.destroy();
  }
}

/** Passes the chunks of a stream to `read`. Rejects with an error of either, or with the signal's reason. */
export async function consumeBody(
  body: Readable,
  signal: AbortSignal | undefined,
  read: (chunks: AsyncIterable<Uint8Array | string>) => Promise<void>,
): Promise<void> {
  try {
    await pipeline(body, read, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted(); // `pipeline` wraps the reason.
    throw error;
  }
}
