import { createHash } from "node:crypto";
import { fstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { ServiceError } from "@outrigger/core";
import type { Admission, RenderSource } from "@outrigger/core/images";
import { systemCode } from "@outrigger/core/values";
import type { Piece } from "../shared/wire.ts";

/** The bytes of a source, read on demand. Its methods reject with `store_unavailable` when the file cannot be read. */
export interface OpenSource {
  readonly length: number;
  /** The bytes from `start` to `end`, in order. A chunk is valid until the next one is requested. */
  chunks(start: number, end: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Each chunk costs some wake-ups of both processes. Most files are one chunk. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/** Memory of the last chunk, for the next one: new memory would cost as much as the read. */
let spare: Buffer | undefined;

function openSource(source: RenderSource): Promise<OpenSource> | OpenSource {
  return "bytes" in source ? openBytes(source.bytes) : openFile(source);
}

export function openBytes(bytes: Uint8Array): OpenSource {
  return {
    length: bytes.length,
    async *chunks(start, end) {
      if (end > start) yield bytes.subarray(start, end);
    },
    close: async () => undefined,
  };
}

/** Rejects with `store_unavailable` when the file cannot be opened. */
export async function openFile({
  path,
  start: first = 0,
}: {
  path: string;
  start?: number;
}): Promise<OpenSource> {
  const file = await open(path).catch((cause: unknown) => Promise.reject(unreadable(cause)));
  try {
    const length = Math.max(0, fstatSync(file.fd).size - first);
    return {
      length,
      chunks: (start, end) => readChunks(file, first + start, first + end),
      close: () => file.close(),
    };
  } catch (cause) {
    await file.close();
    throw unreadable(cause);
  }
}

async function* readChunks(file: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  const length = Math.min(CHUNK_BYTES, end - start);
  const buffer = spare !== undefined && spare.length >= length ? spare : Buffer.allocUnsafeSlow(length);
  spare = undefined;
  try {
    for (let at = start; at < end; ) {
      const { bytesRead } = await file
        .read(buffer, 0, Math.min(buffer.length, end - at), at)
        .catch((cause: unknown) => Promise.reject(unreadable(cause)));
      if (bytesRead === 0) throw unreadable(new Error("The file ended early"));
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    spare = buffer;
  }
}

function unreadable(cause?: unknown): ServiceError {
  return new ServiceError("store_unavailable", "The stored image cannot be read just now.", { cause });
}

/**
 * Writes the cleaned file that a worker described: ranges of the source, and new bytes. No worker can write the file.
 * Rejects with `no_space` or `store_unavailable`, as a store does.
 */
export async function writeCleaned(
  path: string,
  source: RenderSource,
  { pieces, bytes }: { pieces: readonly Piece[]; bytes: Buffer },
): Promise<NonNullable<Admission["cleaned"]>> {
  const hash = createHash("sha256");
  const opened = await openSource(source);
  let size = 0;
  try {
    const file = await open(path, "wx", 0o600);
    try {
      for (const [of, start, end] of pieces) {
        const chunks = of === "source" ? opened.chunks(start, end) : [bytes.subarray(start, end)];
        for await (const chunk of chunks) {
          await file.writeFile(chunk);
          hash.update(chunk);
          size += chunk.length;
        }
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    const code = systemCode(cause);
    const isFull = code === "ENOSPC" || code === "EDQUOT";
    throw new ServiceError(
      isFull ? "no_space" : "store_unavailable",
      isFull ? "There is no space left to store this image." : "The image cannot be stored just now.",
      { cause },
    );
  } finally {
    await opened.close();
  }
  return { size, sha256: hash.digest("hex") };
}
