import { asBuffer } from "@outrigger/core/stores";

/**
 * Cuts the bytes of `source` into Buffers of `bytes` bytes; the last may be shorter. None is empty; some are
 * views of chunks.
 * @param join Like `Buffer.concat`.
 */
export async function* cut(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  bytes: number,
  join: (chunks: readonly Buffer[], length: number) => Buffer,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    let rest = asBuffer(chunk);
    while (length + rest.length >= bytes) {
      const end = bytes - length;
      const part = rest.subarray(0, end);
      yield held.length === 0 ? part : join([...held, part], bytes);
      rest = rest.subarray(end);
      held = [];
      length = 0;
    }
    if (rest.length > 0) held.push(rest);
    length += rest.length;
  }
  const [only] = held;
  if (only !== undefined) yield held.length === 1 ? only : join(held, length);
}

/**
 * Returns a source of at most `maxBytes` as one Buffer, and a longer source as an iterable of all its chunks.
 * @param join Like `Buffer.concat`.
 */
export async function gatherIfShort(
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
  // Dropped one by one, so that their memory is free for the following chunks.
  for (let chunk = held.shift(); chunk !== undefined; chunk = held.shift()) yield chunk;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield asBuffer(next.value);
}
