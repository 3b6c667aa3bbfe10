import { createHash, randomUUID } from "node:crypto";
import { close, lstatSync, openSync, unlink, write } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { ServiceError, type SpooledFile } from "@outrigger/core";
import { createBlockPool } from "../block-pool.ts";

const HEAD_BYTES = 64 * 1024;
// Bytes that may wait in memory, in addition to one block that is being written and one that is being filled.
const WAITING_BYTES = 256 * 1024;

export interface SpoolFile {
  readonly path: string;
  /** Receives the bytes. It emits `close` after the descriptor is closed. */
  readonly writable: Writable;
  /** Describes the written bytes. Valid after `finish`. */
  result(): { size: number; head: Buffer; sha256: string };
  /** Stops writing and deletes the file, complete or not. Never rejects. */
  discard(): Promise<void>;
}

/** Creates a file in `directory` (exclusive, mode 0600, random name) and hashes the bytes written to it. */
export function createSpoolFile(directory: string): SpoolFile {
  const path = join(directory, `outrigger-${randomUUID()}.part`);
  const hash = createHash("sha256");
  let head: Buffer | undefined;
  let size = 0;
  let descriptor = -1;
  let block: Buffer | undefined;
  let filled = 0;
  let isWriting = false;
  let failure: Error | null = null;
  let afterWrite: (() => void) | undefined;

  const whenWritten = (then: () => void) => {
    if (isWriting) afterWrite = then;
    else then();
  };
  const startWrite = () => {
    const full = block;
    if (full === undefined || failure !== null) return;
    head ??= Buffer.from(full.subarray(0, Math.min(filled, HEAD_BYTES)));
    isWriting = true;
    writeAll(descriptor, full.subarray(0, filled), (error) => {
      blocks.release(full);
      isWriting = false;
      failure = error;
      const next = afterWrite;
      afterWrite = undefined;
      next?.();
    });
    block = undefined;
    filled = 0;
  };
  const append = (chunk: Buffer, done: (error: Error | null) => void) => {
    block ??= blocks.borrow();
    const copied = chunk.copy(block, filled);
    filled += copied;
    if (filled < block.length) {
      done(failure);
      return;
    }
    // The next block is filled while this one is written; only the write after that waits.
    whenWritten(() => {
      startWrite();
      if (copied < chunk.length && failure === null) append(chunk.subarray(copied), done);
      else done(failure);
    });
  };

  const writable = new Writable({
    highWaterMark: WAITING_BYTES,
    decodeStrings: false,
    construct(done) {
      try {
        // Synchronous: a hop to the thread pool costs more.
        descriptor = openSync(path, "wx", 0o600);
        done();
      } catch (error) {
        done(toServiceError(error as NodeJS.ErrnoException)); // Thrown by `openSync`.
      }
    },
    write(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      append(chunk, done);
    },
    final(done) {
      whenWritten(() => {
        startWrite();
        whenWritten(() => done(failure));
      });
    },
    destroy(error, done) {
      whenWritten(() => {
        if (block !== undefined) blocks.release(block);
        block = undefined;
        if (descriptor === -1) {
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
    result: () => ({ size, head: head ?? Buffer.alloc(0), sha256: hash.digest("hex") }),
    async discard() {
      await destroyed(writable);
      await removeFile(path);
    },
  };
}

/**
 * Deletes a spooled file. Never rejects: a missing file is fine, and the owner of the directory sweeps any
 * other.
 */
export function removeFile(path: string): Promise<void> {
  return new Promise((resolve) => {
    if (isGone(path)) resolve();
    else unlink(path, () => resolve());
  });
}

/** Whether a store has moved the file away. The look is cheaper than a hop to the thread pool. */
function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Unknown.
    return false;
  }
}

/**
 * Destroys `writable` and resolves when it has closed. Never rejects: the caller already has an error or
 * needs none.
 */
function destroyed(writable: Writable): Promise<void> {
  return new Promise((resolve) => {
    writable.on("error", () => {});
    if (writable.closed) resolve();
    else writable.once("close", () => resolve());
    writable.destroy();
  });
}

function writeAll(descriptor: number, bytes: Buffer, done: (error: Error | null) => void): void {
  write(descriptor, bytes, 0, bytes.length, null, (error, written) => {
    if (error) done(toServiceError(error));
    // A short write occurs on a full disk; writing the rest then fails with the reason.
    else if (written < bytes.length) writeAll(descriptor, bytes.subarray(written), done);
    else done(null);
  });
}

function toServiceError(error: NodeJS.ErrnoException): ServiceError {
  // EFBIG: the process's file size limit. For the client it is also a lack of space.
  return error.code === "ENOSPC" || error.code === "EDQUOT" || error.code === "EFBIG"
    ? new ServiceError("no_space", "There is no room left for the upload", { cause: error })
    : new ServiceError("store_unavailable", "The upload could not be written to disk", { cause: error });
}

// A write of 1 MiB costs little more than a small one. Keeping network chunks until there are enough would load the
// garbage collector; copying them at once does not.
const blocks = createBlockPool(1024 * 1024, 8);

/** Converts a finished spool file to the file that services receive. */
export function toSpooledFile(spool: SpoolFile, part: { name: string; declaredType: string }): SpooledFile {
  return {
    path: spool.path,
    name: part.name,
    declaredType: part.declaredType,
    ...spool.result(),
    dispose: () => removeFile(spool.path),
  };
}
