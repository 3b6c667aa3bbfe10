/** The bytes of `source` in Buffers of `bytes`, of which the last may be shorter; none is empty, some are views of chunks. */
export async function* cut(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  bytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    let rest = typeof chunk === "string" ? Buffer.from(chunk) : view(chunk);
    while (length + rest.length >= bytes) {
      const end = bytes - length;
      const part = rest.subarray(0, end);
      yield held.length === 0 ? part : Buffer.concat([...held, part], bytes);
      rest = rest.subarray(end);
      held = [];
      length = 0;
    }
    if (rest.length > 0) held.push(rest);
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(held, length);
}

function view(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
