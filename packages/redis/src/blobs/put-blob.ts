import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { isServiceError, ServiceError } from "@outrigger/core";
import {
  abortable,
  asBuffer,
  type BlobInfo,
  consumeBody,
  type PutOptions,
  writeConflict,
} from "@outrigger/core/stores";
import { commitBlob } from "./blob-scripts.ts";
import { type BlobSpace, PIECE_BYTES, WHOLE_BYTES } from "./blob-space.ts";
import { cut, gatherIfShort } from "./cut.ts";
import { statBlob } from "./get-blob.ts";

/** Blobs up to this length lie in their head and are written with it. */
const INLINE_BYTES = 65_536;
/** Pieces orphaned by a crash expire after this time. A `put` that takes longer fails. */
export const ORPHAN_MS = 3_600_000;
/** Pieces of one blob that are sent at once. */
const WINDOW = 4;

interface Written {
  size: number;
  /** Bytes per piece; 0 if there are no pieces. */
  pieceBytes: number;
  /** The bytes of a short blob, which has no pieces; otherwise empty. */
  inline: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** Stores a body, which is consumed or destroyed when the promise settles. */
export async function putBlob(
  space: BlobSpace,
  key: string,
  body: Uint8Array | Readable,
  { ifRevision, signal }: PutOptions,
): Promise<BlobInfo> {
  const revision = randomBytes(12).toString("base64url");
  const pieces = createPieces(space, key, revision);
  let mayBeStored = false;
  try {
    // Checked before a long body is sent: sending it in vain costs more than a round trip.
    const checkCondition = async () => {
      if (ifRevision === undefined) return;
      const found = (await abortable(statBlob(space, key), signal))?.revision ?? null;
      if (found !== ifRevision) throw writeConflict();
    };
    const { size, pieceBytes, inline } = await receive(space, pieces, body, checkCondition, signal);
    signal?.throwIfAborted();
    // From here on the blob may be stored, whether or not the signal aborts or the reply arrives.
    mayBeStored = true;
    const outcome = await space.change(commitBlob, key, [
      ifRevision === undefined ? "any" : ifRevision === null ? "none" : "is",
      ifRevision ?? "",
      revision,
      String(size),
      String(pieceBytes),
      inline,
      String(space.supersededMs),
      String(space.ttlMs),
    ]);
    if (outcome === "done") return { size, revision };
    mayBeStored = false;
    if (outcome === "conflict") throw writeConflict();
    throw new ServiceError(
      "store_unavailable",
      "Redis lost bytes of this upload, or the upload took longer than an hour. Repeat it.",
    );
  } catch (error) {
    // If there is no memory for the head, Redis rejected it: its pieces only take up memory.
    if (!mayBeStored || isServiceError(error, "no_space")) void pieces.discard();
    throw error;
  }
}

type Pieces = ReturnType<typeof createPieces>;

/** The pieces that were written under one revision. */
function createPieces(space: BlobSpace, key: string, revision: string) {
  const sent: Promise<unknown>[] = [];

  /** Resolves when another piece may be written. */
  async function write(bytes: Buffer): Promise<void> {
    const name = space.names.piece(key, revision, sent.length);
    const done = space.transfer(name, ["SET", name, bytes, "PX", String(ORPHAN_MS)]);
    // `finish` and `write` report the error. The client may still send the bytes after it, so the buffer is
    // not reused.
    done.then(
      () => space.memory.release(bytes),
      () => undefined,
    );
    sent.push(done);
    await sent.at(-WINDOW);
  }

  return {
    write,

    /** Resolves when all pieces are written. */
    async finish(): Promise<void> {
      await Promise.all(sent.slice(-WINDOW));
    },

    /** Deletes the pieces. If the server cannot be reached, they expire. */
    async discard(): Promise<void> {
      await Promise.allSettled(sent);
      const names = sent.map((_, index) => space.names.piece(key, revision, index));
      while (names.length > 0) {
        try {
          await space.connection.call(names[0] ?? "", ["UNLINK", ...names.splice(0, 1000)]);
        } catch {
          return; // The rest expires.
        }
      }
    },
  };
}

/** Writes a body in pieces, unless it is short enough for the head. */
async function receive(
  space: BlobSpace,
  pieces: Pieces,
  body: Uint8Array | Readable,
  checkCondition: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<Written> {
  async function write(bytes: Buffer | AsyncIterable<Buffer>): Promise<Written> {
    const whole = Buffer.isBuffer(bytes) && bytes.length <= WHOLE_BYTES ? bytes : undefined;
    if (whole !== undefined && whole.length <= INLINE_BYTES) {
      return { size: whole.length, pieceBytes: 0, inline: whole };
    }
    await checkCondition();
    const length = whole === undefined ? PIECE_BYTES : WHOLE_BYTES;
    let size = 0;
    for await (const piece of cut(Buffer.isBuffer(bytes) ? [bytes] : bytes, length, space.memory.join)) {
      size += piece.length;
      await abortable(pieces.write(piece), signal);
    }
    await abortable(pieces.finish(), signal);
    return { size, pieceBytes: length, inline: NOTHING };
  }

  if (body instanceof Uint8Array) return await write(asBuffer(body));
  let written: Written = { size: 0, pieceBytes: 0, inline: NOTHING };
  await consumeBody(body, signal, async (source) => {
    written = await write(await gatherIfShort(source, WHOLE_BYTES, space.memory.join));
  });
  return written;
}
