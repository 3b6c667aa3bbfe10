import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";

/** Up to this size a body is a Buffer, as records and small renditions are. */
const BUFFER_BYTES = 65_536;
/** Size of the chunks of an upload. */
const CHUNK_BYTES = 65_536;
const PATTERN = randomBytes(16 * CHUNK_BYTES);

/** @type {WeakMap<Readable, number>} */
const lengths = new WeakMap();

/**
 * A body of `bytes` bytes, the same at every call in a process: a Buffer while small, else a stream that takes no
 * memory.
 * @param {number} bytes
 */
export function bodyOf(bytes) {
  if (bytes <= BUFFER_BYTES) return PATTERN.subarray(0, bytes);
  const body = Readable.from(chunksOf(bytes), { objectMode: false });
  lengths.set(body, bytes);
  return body;
}

/** @param {Readable} body Made by {@link bodyOf}. */
export function lengthOf(body) {
  return lengths.get(body) ?? Number.NaN;
}

/** @param {number} bytes */
function* chunksOf(bytes) {
  for (let at = 0; at < bytes; at += CHUNK_BYTES) {
    const from = at % PATTERN.length;
    yield PATTERN.subarray(from, from + Math.min(CHUNK_BYTES, bytes - at));
  }
}

/**
 * Whether a value is the body of this size.
 * @param {Buffer | AsyncIterable<Buffer>} found
 * @param {number} bytes
 */
export async function isBody(found, bytes) {
  const [expected, actual] = [createHash("sha256"), createHash("sha256")];
  for (const chunk of chunksOf(bytes)) expected.update(chunk);
  for await (const chunk of Buffer.isBuffer(found) ? [found] : found) actual.update(chunk);
  return expected.digest("hex") === actual.digest("hex");
}

/**
 * Reads to the end, as a pipe does: iterating over a stream would join the chunks that arrived meanwhile.
 * @param {Buffer | AsyncIterable<Buffer>} found
 * @returns {Promise<number>} How many bytes there were.
 */
export async function drain(found) {
  if (Buffer.isBuffer(found)) return found.length;
  let bytes = 0;
  if (!(found instanceof Readable)) {
    for await (const chunk of found) bytes += chunk.length;
    return bytes;
  }
  found.on("data", (chunk) => {
    bytes += chunk.length;
  });
  await finished(found);
  return bytes;
}
