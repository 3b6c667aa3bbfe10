import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { fstatSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Socket } from "node:net";
import type { Admission, RenderSource } from "@outrigger/core/images";
import { ServiceError, systemCode } from "@outrigger/core/values";
import { FrameReader, type FrameReceiver, frameHead } from "../shared/frames.ts";
import type { Piece } from "../shared/wire.ts";
import { PIPE, type WorkerMessage } from "../shared/wire.ts";

/** Bytes of a message without those that come with it. The longest has a thousand ranges. */
const MAX_MESSAGE_BYTES = 256 * 1024;

/** A task with its bytes. */
export interface Request<Result> {
  /** The message to the worker. */
  task: object;
  /** The bytes that come with it. */
  source: RenderSource;
  /** Verifies the reply. If it throws, the worker is killed. */
  read(reply: unknown, bytes: Buffer, sourceBytes: number): Result;
}

/** The receiver of the frames of a process. */
export interface PipeReceiver extends FrameReceiver {
  /** Called when a frame is invalid or `onFrame` throws. */
  onInvalid(cause: unknown): void;
}

/** Passes the frames of a worker to `receiver`. */
export function readPipe(child: ChildProcess, receiver: PipeReceiver): void {
  const reader = new FrameReader(MAX_MESSAGE_BYTES, receiver);
  const pipe = pipeOf(child);
  pipe.on("data", (chunk: Buffer) => {
    try {
      for (let at = 0; at < chunk.length; ) {
        const copied = chunk.copy(reader.space(), 0, at);
        reader.took(copied);
        at += copied;
      }
    } catch (cause) {
      pipe.removeAllListeners("data").resume();
      receiver.onInvalid(cause);
    }
  });
  // The process has ended or is about to.
  pipe.on("error", () => undefined);
}

/** Sends a task and its bytes. Rejects when the source cannot be read, or the process does not take all. */
export async function sendTask(child: ChildProcess, task: object, source: OpenSource): Promise<void> {
  const pipe = pipeOf(child);
  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      pipe.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  await write(frameHead(task, source.length));
  for await (const chunk of source.chunks(0, source.length)) await write(chunk);
}

/** Decides whether a worker keeps this process alive. */
export function keepHostAlive(child: ChildProcess | undefined, on: boolean): void {
  if (child === undefined) return;
  const method = on ? "ref" : "unref";
  child[method]();
  pipeOf(child)[method]();
  // Node opens this pipe as a socket, too.
  (child.stderr as Socket | null)?.[method]();
}

function pipeOf(child: ChildProcess): Socket {
  // Opened by `startProcess`, as a socket.
  return child.stdio[PIPE] as Socket;
}

/** The faults of a picture, and of the process itself. A worker reports no other. */
const CODES = [
  ...([
    "bad_request",
    "too_large",
    "unsupported_media",
    "too_costly",
    "not_implemented",
    "memory",
    "bug",
  ] as const),
];

/**
 * Verifies the form of a message, except that of a result. A decoder may be under control of the file that it read.
 * Throws for any other value.
 */
export function readMessage(given: unknown): WorkerMessage<unknown> {
  const fields: Record<string, unknown> = typeof given === "object" && given !== null ? { ...given } : {};
  const { kind, result } = fields;
  if (kind === "ready") return { kind };
  if (kind === "unusable") return { kind, reason: text(fields.reason) };
  const usage = {
    cpuMs: amount(fields.cpuMs),
    residentBytes: fields.residentBytes === null ? null : amount(fields.residentBytes),
  };
  if (kind === "done") return { kind, result, ...usage };
  const code = CODES.find((each) => each === fields.code);
  if (kind !== "failed" || code === undefined) throw invalid();
  return { kind, code, message: text(fields.message), detail: text(fields.detail), ...usage };
}

function text(given: unknown): string {
  if (typeof given !== "string") throw invalid();
  return given;
}

function amount(given: unknown): number {
  if (typeof given !== "number" || !(given >= 0)) throw invalid();
  return given;
}

function invalid(): Error {
  return new Error("A render process sent an invalid message");
}

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
