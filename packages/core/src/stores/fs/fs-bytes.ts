import { close, closeSync, constants, fchmodSync, fstatSync, openSync, read, writeFileSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import type { DirectReadable, GetOptions, StoredBlob } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { BLOB_MODE, EMPTY_BLOB_MODE, type FileSystem, systemCode } from "./fs-files.ts";
import { type FileOpener, openHead, revisionOf } from "./fs-generations.ts";

/** Up to this size, a body is one Buffer. */
const WHOLE_BYTES = 1024 * 1024;

const readAt = promisify(read);

/** Opens the current blob of a chain; `null` if there is none. */
export async function openBlob(base: string, { range, signal }: GetOptions): Promise<StoredBlob | null> {
  signal?.throwIfAborted();
  const head = openHead(base, OPEN);
  if (head === null) return null;
  const { opened: descriptor, size } = head;
  const revision = revisionOf(head);
  const { start, length } = cut(range, size, descriptor);
  if (length > WHOLE_BYTES) return { size, revision, body: createFileBody(descriptor, start, length) };
  try {
    return { size, revision, body: await readWhole(descriptor, start, length) };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Checks names and opens files synchronously. On a local disk that takes microseconds from the kernel's
 * cache, a tenth of the cost of a hop to the thread pool. Bytes are read asynchronously.
 */
const OPEN: FileOpener<number> = {
  open(path) {
    let opened: number;
    try {
      opened = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      // It was deleted, or superseded and removed, after the directory was listed.
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    }
    return { stats: fstatSync(opened), opened };
  },
  close: closeSync,
};

function cut(
  range: GetOptions["range"],
  size: number,
  descriptor: number,
): { start: number; length: number } {
  if (range === undefined) return { start: 0, length: size };
  const { start } = range;
  const end = Math.min(range.end, size - 1);
  const isWhole = Number.isInteger(start) && Number.isInteger(end);
  if (isWhole && start >= 0 && start <= end) return { start, length: end - start + 1 };
  closeSync(descriptor);
  throw new ServiceError("bad_request", "The range must begin within the blob");
}

async function readWhole(descriptor: number, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await readAt(descriptor, bytes, filled, length - filled, start + filled);
    if (bytesRead === 0) throw shorterThanRecorded();
    filled += bytesRead;
  }
  return bytes;
}

/** Every read costs a hop to the thread pool, so reads are few and large. */
const CHUNK_BYTES = 512 * 1024;

/** Streams `length` bytes of an open file from `start`, and closes the descriptor with the stream. */
function createFileBody(descriptor: number, start: number, length: number): DirectReadable {
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
function shorterThanRecorded(): ServiceError {
  return new ServiceError("store_unavailable", "A stored file is shorter than its recorded size");
}

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

/** Writes a body to a new file at `path`; on failure no file remains. */
export async function writeTemporary(
  path: string,
  body: Uint8Array | Readable,
  files: FileSystem,
  signal: AbortSignal | undefined,
): Promise<NewFile> {
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
  try {
    fill(descriptor);
    return newFile(path, descriptor, files, async () => closeSync(descriptor));
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
