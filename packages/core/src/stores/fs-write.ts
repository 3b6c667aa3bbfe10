import { randomBytes } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type FileSystem, stampUniquely } from "./fs-files.ts";

/** Chunks are gathered to writes of about this size: a system call and a hop to the thread pool each. */
const WRITE_BYTES = 1024 * 1024;

/** Writes a body to a new file in `directory`, flushed to the disk. Resolves to its path; on failure nothing stays. */
export async function writeTemporary(
  directory: string,
  body: Uint8Array | Readable,
  files: FileSystem,
  signal: AbortSignal | undefined,
): Promise<string> {
  const path = join(directory, randomBytes(12).toString("hex"));
  try {
    const file = await open(path, "wx", 0o600);
    try {
      if (body instanceof Readable) await pipeline(body, gatherInto(file), { signal });
      else await file.writeFile(body, { signal });
      await flush(file, files);
    } finally {
      await file.close();
    }
    return path;
  } catch (error) {
    if (body instanceof Readable) body.destroy();
    await rm(path, { force: true });
    throw error;
  }
}

/** Makes a file's bytes durable and its revision its own. A failed flush is never tried again: it would lie. */
export async function flush(file: FileHandle, files: FileSystem): Promise<void> {
  stampUniquely(file.fd);
  await files.sync(file);
}

/** A sink that writes what it is given in big pieces. */
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
      if (bytes < WRITE_BYTES) done();
      else writeOut().then(() => done(), done);
    },
    final(done) {
      writeOut().then(() => done(), done);
    },
  });
}

/** Removes the first `count` bytes of a batch that was written in part. */
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
