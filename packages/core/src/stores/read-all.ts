import type { Readable } from "node:stream";

/** The bytes of a blob's body as one Buffer; for bodies whose size is known to be modest. */
export async function readAll(body: Buffer | Readable): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer); // A store's streams yield Buffers.
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
