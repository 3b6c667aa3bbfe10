import { Readable } from "node:stream";
import {
  type BlobInfo,
  type ByteRange,
  type GetOptions,
  ServiceError,
  type StoredBlob,
} from "@outrigger/core";
import { abortable } from "./abortable.ts";
import { readBlob } from "./blob-scripts.ts";
import type { BlobSpace } from "./blob-space.ts";

/** What is no longer than this comes as a Buffer, in one round trip. */
const BUFFER_BYTES = 1_048_576;
/** Pieces that are read before they are asked for. */
const READ_AHEAD = 2;

/** Where the bytes of a blob are. */
interface Place {
  key: string;
  revision: string;
  pieceBytes: number;
}

export async function getBlob(
  space: BlobSpace,
  key: string,
  { range, signal }: GetOptions,
): Promise<StoredBlob | null> {
  signal?.throwIfAborted();
  const { names, connection } = space;
  // One that is none lies beyond the end of every blob.
  const { start, end } = range === undefined ? { start: 0, end: -1 } : isRange(range) ? range : NOWHERE;
  const rest = [names.pieces(key), String(start), String(end), String(BUFFER_BYTES)];
  const reply = await abortable(connection.run(readBlob, [names.head(key)], rest), signal);
  if (reply === null) return null;
  const [revisionBytes, size, pieceBytes, ...parts] = reply as [Buffer, number, number, ...Buffer[]]; // As it answers.
  if (range !== undefined && start >= size) {
    throw new ServiceError("bad_request", "The range lies outside of the blob.");
  }
  const revision = String(revisionBytes);
  const last = end < 0 ? size - 1 : Math.min(end, size - 1);
  const length = last - start + 1;
  const place = { key, revision, pieceBytes };
  const beginning = joined(parts);
  if (length <= BUFFER_BYTES) {
    if (beginning.length !== length) throw lost();
    return { size, revision, body: beginning };
  }
  const second = (Math.floor(start / pieceBytes) + 1) * pieceBytes;
  if (beginning.length !== Math.min(second - start, length)) throw lost();
  const body = Readable.from(bytesOf(space, place, beginning, { start: second, end: last }), {
    objectMode: false,
    highWaterMark: pieceBytes,
  });
  if (signal !== undefined) destroyWith(body, signal);
  return { size, revision, body };
}

export async function statBlob({ names, connection }: BlobSpace, key: string): Promise<BlobInfo | null> {
  const head = names.head(key);
  const reply = await connection.call(head, ["HMGET", head, "revision", "size"]);
  const [revision, size] = reply as [Buffer, Buffer] | [null, null]; // As HMGET answers.
  return revision === null ? null : { size: Number(size), revision: String(revision) };
}

/** What has been read, and then the rest of what was asked for, which begins with a piece. */
async function* bytesOf(
  space: BlobSpace,
  place: Place,
  beginning: Buffer,
  { start, end }: ByteRange,
): AsyncGenerator<Buffer, void, undefined> {
  const ahead: Promise<Buffer>[] = [];
  let next = start;
  const readOn = () => {
    while (ahead.length < READ_AHEAD && next <= end) {
      const piece = readPiece(space, place, next, Math.min(end - next + 1, place.pieceBytes));
      piece.catch(() => undefined); // Met when it is its turn; if nobody reads as far, it was for nothing.
      ahead.push(piece);
      next += place.pieceBytes;
    }
  };
  readOn();
  yield beginning;
  for (let piece = ahead.shift(); piece !== undefined; piece = ahead.shift()) {
    const bytes = await piece;
    readOn();
    yield bytes;
  }
}

/** The first `length` bytes of the piece that begins at `at`. */
async function readPiece(space: BlobSpace, place: Place, at: number, length: number): Promise<Buffer> {
  const { key, revision, pieceBytes } = place;
  const name = space.names.piece(key, revision, at / pieceBytes);
  const bytes = await space.transfer(name, ["GETRANGE", name, "0", String(length - 1)]);
  if (!Buffer.isBuffer(bytes) || bytes.length !== length) throw lost();
  return bytes;
}

/** One Buffer that keeps no other memory alive: short answers are views of what the connection received. */
function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  const isOwn = parts.length === 1 && only !== undefined && only.length === only.buffer.byteLength;
  return isOwn ? only : Buffer.concat(parts);
}

function destroyWith(stream: Readable, signal: AbortSignal): void {
  const destroy = () => stream.destroy(signal.reason);
  signal.addEventListener("abort", destroy);
  stream.once("close", () => signal.removeEventListener("abort", destroy));
}

const NOWHERE: ByteRange = { start: Number.MAX_SAFE_INTEGER, end: Number.MAX_SAFE_INTEGER };

function isRange({ start, end }: ByteRange): boolean {
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end;
}

function lost(): ServiceError {
  return new ServiceError("store_unavailable", "The blob was replaced or deleted while it was read.");
}
