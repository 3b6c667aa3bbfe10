import { createHash, randomUUID } from "node:crypto";
import { close, open, unlink, writev } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { ServiceError } from "@outrigger/core";

const HEAD_BYTES = 64 * 1024;
// Chunks are gathered before they are written: one big write costs little more than one small one.
const GATHER_BYTES = 1024 * 1024;
// What may wait in memory behind a write that is under way and one that is gathered.
const WAITING_BYTES = 256 * 1024;
// A client that dribbles single bytes must not make us hold a million Buffers.
const GATHER_CHUNKS = 512;

export interface SpoolFile {
  readonly path: string;
  /** Takes the bytes; its `close` event comes after the descriptor is closed. */
  readonly writable: Writable;
  /** What has been written. Meaningful after `finish`. */
  result(): { size: number; head: Buffer; sha256: string };
  /** Stops writing and removes the file, whole or half. Never rejects. */
  discard(): Promise<void>;
}

/** A new file in `directory` (exclusive, mode 0600, random name) that hashes what is written to it. */
export function createSpoolFile(directory: string): SpoolFile {
  const path = join(directory, `outrigger-${randomUUID()}.part`);
  const hash = createHash("sha256");
  const head = Buffer.allocUnsafeSlow(HEAD_BYTES);
  let headBytes = 0;
  let size = 0;
  let descriptor: number | undefined;
  let gathered: Buffer[] = [];
  let gatheredBytes = 0;
  let isWriting = false;
  let failure: Error | null = null;
  let afterWrite: (() => void) | undefined;

  const startWrite = (fd: number) => {
    const chunks = gathered;
    gathered = [];
    gatheredBytes = 0;
    isWriting = true;
    writeAll(fd, chunks, (error) => {
      isWriting = false;
      failure = error;
      const next = afterWrite;
      afterWrite = undefined;
      next?.();
    });
  };
  const whenWritten = (then: () => void) => {
    if (isWriting) afterWrite = then;
    else then();
  };

  const writable = new Writable({
    highWaterMark: WAITING_BYTES,
    decodeStrings: false,
    construct(done) {
      open(path, "wx", 0o600, (error, fd) => {
        if (!error) descriptor = fd;
        done(error && toServiceError(error));
      });
    },
    write(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      if (headBytes < HEAD_BYTES) headBytes += chunk.copy(head, headBytes);
      gathered.push(chunk);
      gatheredBytes += chunk.length;
      if (gatheredBytes < GATHER_BYTES && gathered.length < GATHER_CHUNKS) {
        done(failure);
        return;
      }
      // The next chunks are taken in while these are written; only the write after that has to wait.
      whenWritten(() => {
        if (failure === null && descriptor !== undefined) startWrite(descriptor);
        done(failure);
      });
    },
    final(done) {
      whenWritten(() => {
        if (failure === null && descriptor !== undefined && gatheredBytes > 0) startWrite(descriptor);
        whenWritten(() => done(failure));
      });
    },
    destroy(error, done) {
      whenWritten(() => {
        if (descriptor === undefined) {
          done(error);
          return;
        }
        close(descriptor, (closeError) => done(error ?? (closeError && toServiceError(closeError))));
      });
    },
  });

  return {
    path,
    writable,
    result: () => ({ size, head: head.subarray(0, headBytes), sha256: hash.digest("hex") }),
    async discard() {
      await destroyed(writable);
      await removeFile(path);
    },
  };
}

/** Removes a spooled file. Never rejects: a file that is gone is fine, any other is swept by the directory's owner. */
export function removeFile(path: string): Promise<void> {
  return new Promise((resolve) => {
    unlink(path, () => resolve());
  });
}

/** Destroys `writable` and resolves when it has closed. Never rejects: who destroys has an error already, or needs none. */
function destroyed(writable: Writable): Promise<void> {
  return new Promise((resolve) => {
    writable.on("error", () => {});
    if (writable.closed) resolve();
    else writable.once("close", () => resolve());
    writable.destroy();
  });
}

function writeAll(descriptor: number, chunks: Buffer[], done: (error: Error | null) => void): void {
  writev(descriptor, chunks, (error, written) => {
    if (error) {
      done(toServiceError(error));
      return;
    }
    const rest = dropBytes(chunks, written);
    // A short write happens on a full disk; the attempt to write the rest says why.
    if (rest.length > 0) writeAll(descriptor, rest, done);
    else done(null);
  });
}

function dropBytes(chunks: Buffer[], count: number): Buffer[] {
  let left = count;
  for (const [index, chunk] of chunks.entries()) {
    if (left < chunk.length) return [chunk.subarray(left), ...chunks.slice(index + 1)];
    left -= chunk.length;
  }
  return [];
}

function toServiceError(error: NodeJS.ErrnoException): ServiceError {
  // EFBIG is the process's file size limit, which to the client is the same lack of room.
  return error.code === "ENOSPC" || error.code === "EDQUOT" || error.code === "EFBIG"
    ? new ServiceError("no_space", "There is no room left for the upload", { cause: error })
    : new ServiceError("store_unavailable", "The upload could not be written to disk", { cause: error });
}
