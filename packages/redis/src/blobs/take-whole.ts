import { asBuffer } from "./cut.ts";

/**
 * All bytes of `source` where they are no more than `maxBytes`; else all of its chunks, of which some have been read.
 * @param join As `Buffer.concat`.
 */
export async function takeWhole(
  source: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
  join: (chunks: readonly Buffer[], length: number) => Buffer,
): Promise<Buffer | AsyncIterable<Buffer>> {
  const chunks = source[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  let length = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    const chunk = asBuffer(next.value);
    held.push(chunk);
    length += chunk.length;
    if (length > maxBytes) return resumed(held, chunks);
  }
  const [only] = held;
  return held.length === 1 && only !== undefined ? only : join(held, length);
}

async function* resumed(
  held: Buffer[],
  rest: AsyncIterator<Uint8Array | string>,
): AsyncGenerator<Buffer, void, undefined> {
  // Let go of one by one: the memory is wanted for what comes.
  for (let chunk = held.shift(); chunk !== undefined; chunk = held.shift()) yield chunk;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield asBuffer(next.value);
}
