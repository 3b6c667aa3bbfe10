import { Readable } from "node:stream";
import { ServiceError } from "@outrigger/core";
import { abortable, type ByteRange } from "@outrigger/core/stores";
import type { BlobSpace } from "./blob-space.ts";

/** Bodies up to this length are returned as a Buffer. */
const BUFFER_BYTES = 1_048_576;
/** Pieces that are read ahead of the consumer. */
const READ_AHEAD = 2;

/** A range of a blob, of at least one byte. */
export interface Wanted extends ByteRange {
  key: string;
  revision: string;
  pieceBytes: number;
}

/** A part of a piece. */
interface Part extends ByteRange {
  index: number;
}

/**
 * Returns the wanted bytes, or a stream whose first piece has been read; `null` if the pieces do not exist. The
 * stream fails with `store_unavailable` if a piece disappears while it is read.
 */
export async function readPieces(
  space: BlobSpace,
  wanted: Wanted,
  signal: AbortSignal | undefined,
): Promise<Buffer | Readable | null> {
  const parts = partsOf(wanted);
  if (wanted.end - wanted.start < BUFFER_BYTES) {
    const reading = Array.from(parts, (part) => readPart(space, wanted, part));
    const found = await abortable(Promise.all(reading), signal);
    const bytes = found.filter((piece) => piece !== null);
    if (bytes.length < found.length) return null;
    const [only] = bytes;
    return bytes.length === 1 && only !== undefined ? only : Buffer.concat(bytes);
  }
  const [first] = parts;
  const beginning = first === undefined ? null : await abortable(readPart(space, wanted, first), signal);
  if (beginning === null) return null;
  const body = Readable.from(bytesOf(space, wanted, beginning), {
    objectMode: false,
    highWaterMark: wanted.pieceBytes,
  });
  if (signal !== undefined) destroyWith(body, signal);
  return body;
}

export function lost(): ServiceError {
  return new ServiceError(
    "store_unavailable",
    "The blob was replaced or deleted while it was read. Read it again.",
  );
}

function* partsOf({ start, end, pieceBytes }: Wanted): Generator<Part, void, undefined> {
  for (let at = start; at <= end; at += pieceBytes - (at % pieceBytes)) {
    const from = at % pieceBytes;
    yield { index: Math.floor(at / pieceBytes), start: from, end: Math.min(pieceBytes - 1, from + end - at) };
  }
}

/** `null` if the piece has fewer bytes. */
async function readPart(
  space: BlobSpace,
  { key, revision, pieceBytes }: Wanted,
  { index, start, end }: Part,
): Promise<Buffer | null> {
  const name = space.names.piece(key, revision, index);
  const isWhole = start === 0 && end === pieceBytes - 1;
  // The server copies a part into its reply and sends it in small pieces, which cost the reader several times as much.
  const command = isWhole ? ["GET", name] : ["GETRANGE", name, String(start), String(end)];
  const bytes = await space.transfer(name, command);
  return Buffer.isBuffer(bytes) && bytes.length === end - start + 1 ? bytes : null;
}

/** Yields `beginning` and then the bytes that follow it. */
async function* bytesOf(
  space: BlobSpace,
  wanted: Wanted,
  beginning: Buffer,
): AsyncGenerator<Buffer, void, undefined> {
  const rest = partsOf({ ...wanted, start: wanted.start + beginning.length });
  const ahead: Promise<Buffer | null>[] = [];
  const readOn = () => {
    while (ahead.length < READ_AHEAD) {
      const next = rest.next();
      if (next.done) return;
      const part = readPart(space, wanted, next.value);
      part.catch(() => undefined); // The error is thrown at the part's turn, and ignored if the consumer stops before.
      ahead.push(part);
    }
  };
  readOn();
  yield beginning;
  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    const bytes = await part;
    if (bytes === null) throw lost();
    readOn();
    yield bytes;
  }
}

function destroyWith(stream: Readable, signal: AbortSignal): void {
  const destroy = () => stream.destroy(signal.reason);
  signal.addEventListener("abort", destroy);
  stream.once("close", () => signal.removeEventListener("abort", destroy));
}
