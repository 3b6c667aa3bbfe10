import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { addAbortSignal, Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { isUint8Array } from "node:util/types";
import { bytesText } from "../../amounts.ts";
import type { SpooledFile } from "../../contracts/call.ts";
import { ServiceError, systemCode } from "../../errors.ts";
import { mapped } from "../../stores/fs/fs-files.ts";
import { removeFile } from "../uploads/uploaded-file.ts";

/**
 * The bytes of a new image. A stream is read to its end or destroyed. The rest of an HTTP request is discarded
 * instead, so that it can be answered. A file given by `path` is copied.
 */
export type ImageSource = Uint8Array | Readable | Blob | { path: string } | UrlSource;

/** An image at an http or https URL, which this process fetches. `importUrls` decides which hosts it may contact. */
export interface UrlSource {
  url: string | URL;
}

/** Leading bytes that are kept for detecting the type. */
const HEAD_BYTES = 64 * 1024;
const SLICE_BYTES = 256 * 1024;

type LocalSource = Exclude<ImageSource, UrlSource>;

export interface SpoolOptions {
  /** Path of the new file. Must not exist yet. */
  path: string;
  /** Media type that the caller declares. */
  declaredType: string;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Copies a source to a spool file. Rejects with `too_large`, with `bad_request` for a path that cannot be read, with
 * the reason of the signal, and with the error of a failed stream. After a rejection no file remains.
 */
export async function spoolSource(
  source: LocalSource,
  { path, declaredType, maxBytes, signal }: SpoolOptions,
): Promise<SpooledFile> {
  const tooLarge = () => new ServiceError("too_large", `The file has more than ${bytesText(maxBytes)}`);
  if ((sizeOf(source) ?? 0) > maxBytes) throw tooLarge();
  signal.throwIfAborted();
  const file = await mapped(() => open(path, "wx", 0o600));
  const hash = createHash("sha256");
  const head: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of chunksOf(source, signal)) {
      if (!isUint8Array(chunk))
        throw new TypeError("add: source must be a stream of bytes, not of texts or objects");
      if (size < HEAD_BYTES) head.push(chunk.slice(0, HEAD_BYTES - size));
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      hash.update(chunk);
      await mapped(() => file.writeFile(chunk));
      signal.throwIfAborted();
    }
    await mapped(() => file.close());
  } catch (error) {
    await discard(file, path);
    throw signal.aborted ? signal.reason : error;
  }
  return {
    path,
    size,
    declaredType,
    name: nameOfSource(source),
    head: Buffer.concat(head),
    sha256: hash.digest("hex"),
    dispose: () => removeFile(path),
  };
}

/** @throws TypeError for a value that is no source. */
export function checkSource(source: unknown): asserts source is ImageSource {
  if (isUint8Array(source) || isReadable(source) || isBlob(source) || isPath(source)) return;
  if (isUrlSource(source)) return;
  throw new TypeError("add: source must be a Uint8Array, a Readable, a Blob, { path } or { url }");
}

export function isUrlSource(source: unknown): source is UrlSource {
  return (
    isObject(source) &&
    "url" in source &&
    (typeof source.url === "string" || (isObject(source.url) && "href" in source.url)) &&
    // Not a request or a response, whose bytes were meant.
    !("headers" in source)
  );
}

/**
 * Destroys an unread stream. The rest of an HTTP request is discarded instead, as Node does with an unread body: the
 * reply needs its socket.
 */
export function releaseSource(source: unknown): void {
  if (!isReadable(source)) return;
  if (isRequest(source)) source.resume();
  else source.destroy();
}

/** Handles errors of a stream before it is read: an unhandled one would end the process. The read rejects with it. */
export function holdErrors(source: ImageSource): void {
  if (isReadable(source)) source.on("error", () => undefined);
}

function chunksOf(source: LocalSource, signal: AbortSignal): AsyncIterable<unknown> | Iterable<unknown> {
  if (isUint8Array(source)) return slicesOf(source);
  if (isReadable(source)) {
    const stream = addAbortSignal(signal, source);
    return isRequest(source) ? stream.iterator({ destroyOnReturn: false }) : stream;
  }
  if (isBlob(source)) {
    // Node's own web stream types and the global ones differ in name only.
    return addAbortSignal(signal, Readable.fromWeb(source.stream() as ReadableStream));
  }
  return chunksOfFile(source.path, signal);
}

function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    yield bytes.subarray(start, start + SLICE_BYTES);
  }
}

async function* chunksOfFile(path: string, signal: AbortSignal): AsyncGenerator<unknown> {
  try {
    yield* createReadStream(path, { signal, highWaterMark: SLICE_BYTES });
  } catch (cause) {
    const code = systemCode(cause);
    if (signal.aborted || code === undefined) throw cause;
    throw new ServiceError("bad_request", `The file at source.path cannot be read (${code})`, { cause });
  }
}

async function discard(file: FileHandle, path: string): Promise<void> {
  // Ignored: the file is closed already, or its first failure is reported.
  await file.close().catch(() => undefined);
  await removeFile(path);
}

function sizeOf(source: LocalSource): number | undefined {
  if (isUint8Array(source)) return source.length;
  return isBlob(source) ? source.size : undefined;
}

/** The file name of the source, or an empty string. */
function nameOfSource(source: LocalSource): string {
  if (isUint8Array(source) || isReadable(source)) return "";
  if (!isBlob(source)) return source.path;
  return "name" in source && typeof source.name === "string" ? source.name : "";
}

// Sources are checked by shape: streams of other libraries and Blobs of other realms fit too.

function isReadable(source: unknown): source is Readable {
  return isObject(source) && "pipe" in source && "destroy" in source && Symbol.asyncIterator in source;
}

function isRequest(source: Readable): boolean {
  return "httpVersion" in source && "socket" in source;
}

function isBlob(source: unknown): source is Blob {
  return isObject(source) && "stream" in source && "size" in source && typeof source.size === "number";
}

function isPath(source: unknown): source is { path: string } {
  return isObject(source) && "path" in source && typeof source.path === "string" && source.path !== "";
}

function isObject(source: unknown): source is object {
  return typeof source === "object" && source !== null;
}
