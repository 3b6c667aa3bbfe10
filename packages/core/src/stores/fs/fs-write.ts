import { randomBytes } from "node:crypto";
import { closeSync, constants, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FileSystem } from "./fs-files.ts";
import { BLOB_MODE, EMPTY_BLOB_MODE } from "./fs-generations.ts";

/**
 * Chunks are combined into writes of about this size: each write costs a system call and a hop to the thread
 * pool.
 */
const WRITE_BYTES = 1024 * 1024;

/** Writing this much costs less than a hop to the thread pool. */
const SMALL_BYTES = 16 * 1024;

/** Tiny chunks use more memory than their bytes. */
const MAX_CHUNKS = 1024;

/** A complete file whose bytes may not be on the disk yet. */
export interface NewFile {
  path: string;
  /** Length in bytes. */
  size: number;
  inode: number;
  /**
   * Makes the bytes durable. It flushes at most once: a second flush after a failure would falsely succeed.
   */
  flush(): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Writes a body to a new file in `directory`; on failure no file remains. */
export async function writeTemporary(
  directory: string,
  body: Uint8Array | Readable,
  files: FileSystem,
  signal: AbortSignal | undefined,
): Promise<NewFile> {
  const path = join(directory, randomBytes(12).toString("hex"));
  try {
    if (!(body instanceof Readable) && body.length <= SMALL_BYTES) {
      signal?.throwIfAborted();
      return newFileSync(path, "wx", files, (descriptor) => writeFileSync(descriptor, body));
    }
    const file = await open(path, "wx", BLOB_MODE);
    try {
      if (body instanceof Readable) await pipeline(body, gatherInto(file), { signal });
      else await file.writeFile(body, { signal });
      return newFile(path, file.fd, files, () => file.close());
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    if (body instanceof Readable) body.destroy();
    await rm(path, { force: true });
    signal?.throwIfAborted(); // The calls above wrap its reason.
    throw error;
  }
}

/** Opens a file written elsewhere, and makes it readable by its owner only. */
export function openSpooled(path: string, files: FileSystem): NewFile {
  return newFileSync(path, constants.O_RDWR | constants.O_NOFOLLOW, files);
}

/** Opens or creates a file, synchronously: a hop to the thread pool costs more than these calls. */
function newFileSync(
  path: string,
  flags: number | string,
  files: FileSystem,
  fill: (descriptor: number) => void = () => undefined,
): NewFile {
  const descriptor = openSync(path, flags, BLOB_MODE);
  const close = async () => closeSync(descriptor);
  try {
    fill(descriptor);
    return newFile(path, descriptor, files, close);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function newFile(path: string, descriptor: number, files: FileSystem, close: () => Promise<void>): NewFile {
  let flushing: Promise<void> | undefined;
  const { size, ino, mode } = fstatSync(descriptor);
  const ownMode = size === 0 ? EMPTY_BLOB_MODE : BLOB_MODE;
  if ((mode & 0o777) !== ownMode) fchmodSync(descriptor, ownMode);
  return {
    path,
    size,
    inode: ino,
    flush() {
      flushing ??= files.sync(descriptor);
      return flushing;
    },
    async close() {
      // Another file could get the descriptor of a flush that has not begun.
      await flushing?.catch(() => undefined);
      // Flushed bytes are on the disk, and other bytes belong to no blob: a failed close affects neither.
      await close().catch(() => undefined);
    },
  };
}

/** A sink that combines chunks into large writes. */
function gatherInto(file: FileHandle): Writable {
  let chunks: Buffer[] = [];
  let bytes = 0;
  async function writeOut(): Promise<void> {
    const batch = chunks;
    let left = bytes;
    chunks = [];
    bytes = 0;
    while (left > 0) {
      const { bytesWritten } = await file.writev(batch);
      left -= bytesWritten;
      if (left > 0) dropWritten(batch, bytesWritten);
    }
  }
  return new Writable({
    highWaterMark: WRITE_BYTES,
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes < WRITE_BYTES && chunks.length < MAX_CHUNKS) done();
      else writeOut().then(() => done(), done);
    },
    final(done) {
      writeOut().then(() => done(), done);
    },
  });
}

/** Removes the first `count` bytes from a partly written batch. */
function dropWritten(batch: Buffer[], count: number): void {
  let left = count;
  for (let first = batch[0]; first !== undefined && left > 0; first = batch[0]) {
    if (first.length > left) {
      batch[0] = first.subarray(left);
      return;
    }
    left -= first.length;
    batch.shift();
  }
}
