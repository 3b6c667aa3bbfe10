import { close, read } from "node:fs";
import { Readable } from "node:stream";
import type { DirectReadable } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";

/** Every read costs a hop to the thread pool, so reads are few and large. */
const CHUNK_BYTES = 512 * 1024;

/** Streams `length` bytes of an open file from `start`, and closes the descriptor with the stream. */
export function createFileBody(descriptor: number, start: number, length: number): DirectReadable {
  const end = start + length;
  let position = start;
  let way: "events" | "direct" | null = null;
  let isReading = false;
  /** Closes the descriptor after the read in progress: its number may belong to another file at once. */
  let closeLater: (() => void) | null = null;

  /** Passes 0 on if the read failed or the stream was destroyed. */
  const readBytes = (target: Uint8Array, done: (count: number) => void) => {
    isReading = true;
    const wanted = Math.min(target.length, end - position);
    read(descriptor, target, 0, wanted, position, (error, count) => {
      isReading = false;
      if (closeLater !== null) closeLater();
      else if (error !== null) stream.destroy(error);
      else if (count === 0) stream.destroy(shorterThanRecorded());
      position += count;
      done(error === null && !stream.destroyed ? count : 0);
    });
  };
  const stream = new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      if (way === "direct") return;
      way = "events";
      if (position === end) {
        stream.push(null);
        return;
      }
      const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - position));
      readBytes(chunk, (count) => {
        if (count > 0) stream.push(chunk.subarray(0, count));
      });
    },
    destroy(error, done) {
      const closeNow = () => close(descriptor, (closeError) => done(error ?? closeError));
      if (isReading) closeLater = closeNow;
      else closeNow();
    },
  });
  return Object.assign(stream, {
    readInto(target: Uint8Array) {
      if (way === "events") return null;
      way = "direct";
      return new Promise<number>((resolve) => {
        if (stream.destroyed) resolve(0);
        else if (position < end) readBytes(target, resolve);
        else {
          stream.push(null);
          resolve(0);
        }
      });
    },
  });
}

/** The error for a file that ends before its recorded size. */
export function shorterThanRecorded(): ServiceError {
  return new ServiceError("store_unavailable", "A stored file is shorter than its recorded size");
}
