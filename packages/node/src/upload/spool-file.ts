import { createHash, randomUUID } from "node:crypto";
import { close, lstatSync, openSync, unlink, write } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { ServiceError, type SpooledFile } from "@outrigger/core";

const HEAD_BYTES = 64 * 1024;
// Bytes that may wait in memory, in addition to one block that is being written and one that is being filled.
const WAITING_BYTES = 256 * 1024;

/** A new file in `directory` (exclusive, mode 0600, random name). It emits `close` after the descriptor is closed. */
export class SpoolFile extends Writable {
  readonly path: string;
  readonly #hash = createHash("sha256");
  #head: Buffer | undefined;
  #size = 0;
  #descriptor = -1;
  /** The block that is being filled. */
  #block: Buffer | undefined;
  #filled = 0;
  #isWriting = false;
  #failure: Error | null = null;
  #afterWrite: (() => void) | undefined;

  constructor(directory: string) {
    super({ highWaterMark: WAITING_BYTES, decodeStrings: false });
    this.path = join(directory, `outrigger-${randomUUID()}.part`);
  }

  /** The file that services receive. Valid after `finish`. */
  toSpooledFile(part: Pick<SpooledFile, "name" | "declaredType">): SpooledFile {
    const { path } = this;
    return {
      path,
      ...part,
      size: this.#size,
      head: this.#head ?? Buffer.alloc(0),
      sha256: this.#hash.digest("hex"),
      dispose: () => removeFile(path),
    };
  }

  /** Stops writing and deletes the file, complete or not. Never rejects: the caller already has an error or needs none. */
  async discard(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.on("error", () => {});
      if (this.closed) resolve();
      else this.once("close", () => resolve());
      this.destroy();
    });
    await removeFile(this.path);
  }

  override _construct(done: (error?: Error) => void): void {
    try {
      // Synchronous: a hop to the thread pool costs more.
      this.#descriptor = openSync(this.path, "wx", 0o600);
      done();
    } catch (error) {
      done(toServiceError(error as NodeJS.ErrnoException)); // Thrown by `openSync`.
    }
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error: Error | null) => void): void {
    this.#hash.update(chunk);
    this.#size += chunk.length;
    this.#append(chunk, done);
  }

  override _final(done: (error: Error | null) => void): void {
    this.#whenWritten(() => {
      this.#startWrite();
      this.#whenWritten(() => done(this.#failure));
    });
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#whenWritten(() => {
      if (this.#block !== undefined) blocks.release(this.#block);
      this.#block = undefined;
      if (this.#descriptor === -1) return done(error);
      close(this.#descriptor, (closeError) => done(error ?? (closeError && toServiceError(closeError))));
    });
  }

  #whenWritten(then: () => void): void {
    if (this.#isWriting) this.#afterWrite = then;
    else then();
  }

  #startWrite(): void {
    const full = this.#block;
    if (full === undefined || this.#failure !== null) return;
    this.#head ??= Buffer.from(full.subarray(0, Math.min(this.#filled, HEAD_BYTES)));
    this.#isWriting = true;
    writeAll(this.#descriptor, full.subarray(0, this.#filled), (error) => {
      blocks.release(full);
      this.#isWriting = false;
      this.#failure = error;
      const next = this.#afterWrite;
      this.#afterWrite = undefined;
      next?.();
    });
    this.#block = undefined;
    this.#filled = 0;
  }

  #append(chunk: Buffer, done: (error: Error | null) => void): void {
    this.#block ??= blocks.borrow();
    const copied = chunk.copy(this.#block, this.#filled);
    this.#filled += copied;
    if (this.#filled < this.#block.length) {
      done(this.#failure);
      return;
    }
    // The next block is filled while this one is written; only the write after that waits.
    this.#whenWritten(() => {
      this.#startWrite();
      if (copied < chunk.length && this.#failure === null) this.#append(chunk.subarray(copied), done);
      else done(this.#failure);
    });
  }
}

/** Deletes a spooled file. Never rejects: a missing file is fine, and the owner of the directory sweeps any other. */
function removeFile(path: string): Promise<void> {
  return new Promise((resolve) => {
    let isGone = false;
    try {
      // Whether a store has moved the file away. That is cheaper than a hop to the thread pool.
      isGone = lstatSync(path, { throwIfNoEntry: false }) === undefined;
    } catch {
      // Unknown.
    }
    if (isGone) resolve();
    else unlink(path, () => resolve());
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

/** Blocks of memory for reading and writing, reused: garbage of their size would load the garbage collector. */
export interface BlockPool {
  /** A block that still contains the bytes of its last use. */
  borrow(): Buffer;
  /** Releases a block for the next use. It must not be read or written any more. */
  release(block: Buffer): void;
}

/** @param maxIdle Maximum number of blocks kept for reuse. */
export function createBlockPool(blockBytes: number, maxIdle: number): BlockPool {
  const idle: Buffer[] = [];
  return {
    borrow: () => idle.pop() ?? Buffer.allocUnsafeSlow(blockBytes),
    release(block) {
      if (idle.length < maxIdle) idle.push(block);
    },
  };
}
