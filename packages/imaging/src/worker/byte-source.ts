import { open, readFile } from "node:fs/promises";
import type { RenderSource } from "@outrigger/core";
import { ServiceError } from "@outrigger/core";

/** Bytes that can be looked at piecemeal. */
export interface ByteReader {
  /** Bytes in all. */
  readonly size: number;
  /** At most `length` bytes from `position`: fewer where the source ends before. */
  read(position: number, length: number): Promise<Buffer>;
}

/** All bytes of a source. Rejects with `store_unavailable` when its file cannot be read. */
export async function readAll(source: RenderSource): Promise<Buffer> {
  if ("bytes" in source) return asBuffer(source.bytes);
  return (await readable(readFile(source.path))).subarray(source.start);
}

/**
 * Lets `look` read pieces of a source without taking all of it into memory. Rejects with `store_unavailable` when its
 * file cannot be read.
 */
export async function withReader<T>(
  source: RenderSource,
  look: (reader: ByteReader) => Promise<T>,
): Promise<T> {
  if ("bytes" in source) {
    const bytes = asBuffer(source.bytes);
    return await look({
      size: bytes.length,
      read: async (position, length) => bytes.subarray(position, position + length),
    });
  }
  const file = await readable(open(source.path));
  try {
    const { size } = await readable(file.stat());
    return await look({
      size,
      read: async (position, length) => {
        const piece = Buffer.alloc(Math.max(0, Math.min(length, size - position)));
        const { bytesRead } = await readable(file.read(piece, 0, piece.length, position));
        return piece.subarray(0, bytesRead);
      },
    });
  } finally {
    await file.close();
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function readable<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new ServiceError("store_unavailable", "The stored image cannot be read just now.", { cause });
  }
}
