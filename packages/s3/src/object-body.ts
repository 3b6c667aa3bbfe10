import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import { storeError } from "./s3-errors.ts";
import { createWatchdog } from "./watchdog.ts";

export const ALTERED = "The bytes of an object differ from their checksum";

/**
 * A stream of the first `size` bytes of a response. It fails with `store_unavailable` if the response ends early,
 * if no bytes arrive for `timeoutMs` while the consumer waits, or instead of its last bytes if the checksum differs.
 * The bytes after them are discarded, so that the connection can be reused.
 * @param checksum CRC-32 of the stream, in decimal. `undefined`: it is unknown.
 */
export function objectBody(
  source: Readable,
  size: number,
  timeoutMs: number,
  checksum?: string | undefined,
): Readable {
  let left = size;
  let actual = 0;
  let watchdog: { stop(): void } | undefined;
  const stopWaiting = () => {
    watchdog?.stop();
    watchdog = undefined;
  };
  const fail = (error: unknown) => body.destroy(storeError(error));

  const body = new Readable({
    highWaterMark: 256 * 1024,
    read() {
      // The time limit runs only while the consumer waits: a slow consumer is no failure of the service.
      watchdog ??= createWatchdog(timeoutMs, fail);
      source.resume();
    },
    destroy(error, done) {
      stopWaiting();
      if (left > 0 || error !== null) source.destroy();
      done(error);
    },
  });

  // Without a listener, an error before the first read would crash the process. Reading reports it.
  body.on("error", () => undefined);
  source.on("data", (chunk: Buffer) => {
    if (left === 0) return;
    stopWaiting();
    const bytes = chunk.length > left ? chunk.subarray(0, left) : chunk;
    left -= bytes.length;
    if (checksum !== undefined) actual = crc32(bytes, actual);
    if (left === 0 && checksum !== undefined && checksum !== String(actual)) {
      fail(new Error(ALTERED));
      return;
    }
    const wantsMore = body.push(bytes);
    if (left === 0) finish();
    else if (!wantsMore) source.pause();
  });
  source.on("error", (error) => {
    // If all wanted bytes have arrived, a later error of the connection does not matter.
    if (left > 0) fail(error);
  });
  source.on("close", () => {
    if (left > 0) fail(new Error("The response ended early"));
  });
  source.pause();
  if (left === 0) finish();
  return body;

  function finish(): void {
    body.push(null);
    const giveUp = setTimeout(() => source.destroy(), timeoutMs);
    source.once("close", () => clearTimeout(giveUp));
    source.resume();
  }
}

/**
 * Returns the first `size` bytes of a response as one Buffer, once the response has ended. It uses events, because
 * a loop over the stream joins buffered chunks, which copies them twice.
 * @param onBytes Receives the length of each chunk.
 */
export function readBody(source: Readable, size: number, onBytes: (length: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.allocUnsafe(size);
    let length = 0;
    source.on("data", (chunk: Buffer) => {
      onBytes(chunk.length);
      // `copy` drops the bytes beyond the Buffer.
      if (length < size) length += chunk.copy(bytes, length);
    });
    source.on("error", reject);
    const fail = () => reject(new Error("The response ended early"));
    source.on("end", () => (length === size ? resolve(bytes) : fail()));
    source.on("close", fail);
  });
}

/** Destroys a response that will not be read. */
export function discard(source: Readable): void {
  source.on("error", () => undefined); // Without a listener, an error would crash the process.
  source.destroy();
}
