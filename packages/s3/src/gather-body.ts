import { randomBytes } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import { ServiceError } from "@outrigger/core";
import { asBuffer, consumeBody, systemTemporaryDirectory } from "@outrigger/core/stores";
import { systemCode } from "@outrigger/core/values";
import type { SpoolSettings } from "./s3-options.ts";

/** Number of random bytes after the blob's bytes, so that no two objects have the same content. */
export const MARK_BYTES = 16;

const READ_BYTES = 256 * 1024;
const BATCH_BYTES = 1024 * 1024;
/** Linux accepts at most this many Buffers per `writev` (IOV_MAX). */
const MAX_VECTORS = 1024;
/** Shorter chunks are copied together. */
const SMALL_BYTES = 16 * 1024;
const ROOM_BYTES = 64 * 1024;

/** The complete content of an object, of known length. It can be sent several times. */
export interface GatheredBody {
  /** Length of the blob in bytes, without the mark. */
  size: number;
  mark: Buffer;
  /** CRC-32 of the blob, without the mark. */
  checksum: number;
  /** Whether the content is a Buffer; otherwise it is a stream. */
  isBuffered: boolean;
  /** The blob and its mark, from the first byte. */
  content(): BodyContent;
  /** Releases the file, if there is one. Never rejects. */
  dispose(): Promise<void>;
}

/** The body of one request. */
export interface BodyContent {
  body: Buffer | Readable;
  /** Bytes of a stream that were read so far. Always 0 for a Buffer, whose progress is unknown. */
  readBytes(): number;
}

export interface GatherOptions extends SpoolSettings {
  signal?: AbortSignal | undefined;
}

/** Rejects with the body's error, the signal's reason, or a `ServiceError` if the disk is full. */
export async function gatherBody(body: Uint8Array | Readable, options: GatherOptions): Promise<GatheredBody> {
  const mark = randomBytes(MARK_BYTES);
  if (body instanceof Uint8Array) {
    return inMemory([body, mark], { size: body.byteLength, mark, checksum: crc32(body) });
  }
  const { signal } = options;
  const memory = new ChunkList();
  let memoryBytes = options.bufferBytes;
  let size = 0;
  let checksum = 0;
  let spool: FileHandle | undefined;
  let taking: Promise<void> | undefined;
  async function drainToFile(): Promise<void> {
    spool ??= await openSpool(options.spoolDirectory ?? systemTemporaryDirectory());
    // From now on memory only collects small chunks into large writes.
    memoryBytes = Math.min(memoryBytes, BATCH_BYTES);
    await append(spool, memory.drain());
  }
  try {
    await consumeBody(body, signal, async (source) => {
      for await (const data of source) {
        const chunk = asBuffer(data);
        size += chunk.length;
        checksum = crc32(chunk, checksum);
        memory.append(chunk);
        if (memory.size <= memoryBytes) continue;
        taking = drainToFile();
        await taking;
      }
    });
    const rest = [...memory.drain(), mark];
    const facts = { size, mark, checksum };
    if (spool === undefined) return inMemory(rest, facts);
    await append(spool, rest);
    return inFile(spool, facts);
  } catch (error) {
    // The failed pipeline does not wait for the last chunk, which may still be opening the file.
    await taking?.catch(() => undefined);
    await spool?.close().catch(() => undefined);
    throw error;
  }
}

type BodyFacts = Pick<GatheredBody, "size" | "mark" | "checksum">;

function inMemory(chunks: readonly Uint8Array[], facts: BodyFacts): GatheredBody {
  const body = Buffer.concat(chunks, facts.size + MARK_BYTES);
  const content = () => ({ body, readBytes: () => 0 });
  return { ...facts, isBuffered: true, content, dispose: async () => undefined };
}

function inFile(file: FileHandle, facts: BodyFacts): GatheredBody {
  return {
    ...facts,
    isBuffered: false,
    content: () => fileContent(file, facts.size + MARK_BYTES),
    // The body was sent or abandoned and is not read again, so an error does not matter.
    dispose: () => file.close().catch(() => undefined),
  };
}

/** A new stream of an open file. The file stays open. */
function fileContent(file: FileHandle, length: number): BodyContent {
  let at = 0;
  const body = new Readable({
    highWaterMark: READ_BYTES,
    read() {
      const wanted = Math.min(READ_BYTES, length - at);
      file.read(Buffer.allocUnsafe(wanted), 0, wanted, at).then(
        ({ bytesRead, buffer }) => {
          if (bytesRead === 0) body.destroy(new Error("The spool file is too short"));
          at += bytesRead;
          body.push(buffer.subarray(0, bytesRead));
          if (at === length) body.push(null);
        },
        (error) => body.destroy(error),
      );
    },
  });
  return { body, readBytes: () => at };
}

/** Opens a file and unlinks it, so that even a killed process leaves no file behind. */
async function openSpool(directory: string): Promise<FileHandle> {
  const path = join(directory, `outrigger-s3-${randomBytes(12).toString("hex")}`);
  const file = await open(path, "wx+", 0o600).catch(refuse);
  try {
    await rm(path);
    return file;
  } catch (error) {
    await file.close();
    return refuse(error);
  }
}

async function append(file: FileHandle, chunks: Buffer[]): Promise<void> {
  for (let rest = chunks; rest.length > 0; ) {
    const { bytesWritten } = await file.writev(rest.slice(0, MAX_VECTORS)).catch(refuse);
    rest = behind(rest, bytesWritten);
  }
}

/** The chunks that remain after their first `bytes` bytes were written. */
function behind(chunks: readonly Buffer[], bytes: number): Buffer[] {
  let left = bytes;
  return chunks.flatMap((chunk) => {
    const taken = Math.min(left, chunk.length);
    left -= taken;
    return taken === chunk.length ? [] : chunk.subarray(taken);
  });
}

function refuse(error: unknown): never {
  const code = systemCode(error) ?? String(error);
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const message = `The spool directory cannot be used (${code})`;
  throw new ServiceError(isFull ? "no_space" : "store_unavailable", message, { cause: error });
}

/** A list of chunks of any size. It copies small chunks together and keeps large ones without a copy. */
class ChunkList {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Small chunks are joined here. Bytes before `begin` are in `chunks` already, those from `begin` to `end` are not. */
  #room = Buffer.alloc(0);
  #begin = 0;
  #end = 0;

  /** Number of bytes in the list. */
  get size(): number {
    return this.#size;
  }

  append(chunk: Buffer): void {
    this.#size += chunk.length;
    if (chunk.length >= SMALL_BYTES) {
      this.#flush();
      this.#chunks.push(chunk);
      return;
    }
    if (chunk.length > this.#room.length - this.#end) {
      this.#flush();
      this.#room = Buffer.allocUnsafe(ROOM_BYTES);
      this.#begin = 0;
      this.#end = 0;
    }
    this.#room.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** Returns all bytes in a few non-empty Buffers and clears the list. */
  drain(): Buffer[] {
    this.#flush();
    const all = this.#chunks;
    this.#chunks = [];
    this.#size = 0;
    return all;
  }

  #flush(): void {
    if (this.#end > this.#begin) this.#chunks.push(this.#room.subarray(this.#begin, this.#end));
    this.#begin = this.#end;
  }
}
