import { Readable } from "node:stream";
import { storeError } from "./s3-errors.ts";
import { createWatchdog } from "./watchdog.ts";

/**
 * The first `size` bytes of a response. It fails with `store_unavailable` when they do not come, or not for `timeoutMs` while
 * somebody waits for them. What follows them is read and dropped, so that the connection can be used again.
 */
export function objectBody(source: Readable, size: number, timeoutMs: number): Readable {
  let left = size;
  let watchdog: { stop(): void } | undefined;
  const stopWaiting = () => {
    watchdog?.stop();
    watchdog = undefined;
  };
  const fail = (error: unknown) => body.destroy(storeError(error));

  const body = new Readable({
    highWaterMark: 256 * 1024,
    read() {
      // Only who waits is let down by silence: a reader may take as long as he likes.
      watchdog ??= createWatchdog(timeoutMs, fail);
      source.resume();
    },
    destroy(error, done) {
      stopWaiting();
      if (left > 0 || error !== null) source.destroy();
      done(error);
    },
  });

  // Trouble before somebody reads is told when he does; unheard, it would end the process.
  body.on("error", () => undefined);
  source.on("data", (chunk: Buffer) => {
    if (left === 0) return;
    stopWaiting();
    const bytes = chunk.length > left ? chunk.subarray(0, left) : chunk;
    left -= bytes.length;
    const wantsMore = body.push(bytes);
    if (left === 0) finish();
    else if (!wantsMore) source.pause();
  });
  source.on("error", (error) => {
    // The bytes that were wanted are all there; that the connection broke behind them hurts nobody.
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
 * The first `size` bytes of a response as one Buffer, once it has ended. By events: a loop over the stream makes it put together
 * what has come meanwhile, which would be copied twice.
 * @param onBytes Told of all that come.
 */
export function readBody(source: Readable, size: number, onBytes: (length: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.allocUnsafe(size);
    let length = 0;
    source.on("data", (chunk: Buffer) => {
      onBytes(chunk.length);
      // What is behind them does not fit, and is left out.
      if (length < size) length += chunk.copy(bytes, length);
    });
    source.on("error", reject);
    const fail = () => reject(new Error("The response ended early"));
    source.on("end", () => (length === size ? resolve(bytes) : fail()));
    source.on("close", fail);
  });
}

/** Ends a response that nobody reads. */
export function discard(source: Readable): void {
  source.on("error", () => undefined); // Nobody waits for it any more; unheard, it would end the process.
  source.destroy();
}
