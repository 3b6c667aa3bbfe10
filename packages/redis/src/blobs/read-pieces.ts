import { Readable } from "node:stream";
import { type ByteRange, ServiceError } from "@outrigger/core";
import { abortable } from "@outrigger/core/stores";
import type { BlobSpace } from "./blob-space.ts";

/** What is no longer than this comes as a Buffer. */
const BUFFER_BYTES = 1_048_576;
/** Pieces that are read before they are asked for. */
const READ_AHEAD = 2;

/** Some bytes of a blob, at least one. */
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
 * What is wanted, or a stream whose beginning has been read. `null`: there are no such pieces. The stream fails with
 * `store_unavailable` when they go away while it is read.
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
  return new ServiceError("store_unavailable", "The blob was replaced or deleted while it was read.");
}

function* partsOf({ start, end, pieceBytes }: Wanted): Generator<Part, void, undefined> {
  for (let at = start; at <= end; at += pieceBytes - (at % pieceBytes)) {
    const from = at % pieceBytes;
    yield { index: Math.floor(at / pieceBytes), start: from, end: Math.min(pieceBytes - 1, from + end - at) };
  }
}

/** `null` where there are not so many bytes. */
async function readPart(
  space: BlobSpace,
  { key, revision }: Wanted,
  { index, start, end }: Part,
): Promise<Buffer | null> {
  const name = space.names.piece(key, revision, index);
  const bytes = await space.transfer(name, ["GETRANGE", name, String(start), String(end)]);
  return Buffer.isBuffer(bytes) && bytes.length === end - start + 1 ? bytes : null;
}

/** What has been read, and then what follows it. */
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
      part.catch(() => undefined); // Met when it is its turn; if nobody reads as far, it was for nothing.
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
