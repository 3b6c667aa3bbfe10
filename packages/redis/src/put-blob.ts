import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type BlobInfo, isServiceError, type PutOptions, ServiceError } from "@outrigger/core";
import { abortable } from "./abortable.ts";
import { commitBlob } from "./blob-scripts.ts";
import type { BlobSpace } from "./blob-space.ts";
import { cut } from "./cut.ts";

/** What is no longer than this lies in the head of its blob and is written with it. */
export const INLINE_BYTES = 65_536;
/** What a crash leaves behind goes after so long; a `put` that takes longer fails. */
export const ORPHAN_MS = 3_600_000;
/** Pieces of one blob that are on their way at once. */
const WINDOW = 4;

interface Written {
  size: number;
  /** The bytes, where they are few; then there are no pieces. */
  inline: Buffer | undefined;
}

/** Stores a body that is left to `put`: consumed or destroyed when it settles. */
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
    const { size, inline } = await receive(pieces, body, signal);
    signal?.throwIfAborted();
    // From here on it may have happened, whatever the signal does and whether or not the answer arrives.
    mayBeStored = true;
    const outcome = await space.change(commitBlob, key, [
      ifRevision === undefined ? "any" : ifRevision === null ? "none" : "is",
      ifRevision ?? "",
      revision,
      String(size),
      inline === undefined ? String(space.pieceBytes) : "0",
      inline ?? "",
      String(space.supersededMs),
      String(space.ttlMs),
    ]);
    if (outcome === "done") return { size, revision };
    mayBeStored = false;
    if (outcome === "conflict") throw new ServiceError("conflict", "The blob was changed by somebody else.");
    throw new ServiceError(
      "store_unavailable",
      "Redis has lost bytes that were written, or it took too long.",
    );
  } catch (error) {
    // Where there is no room for the head, it was refused, and its pieces take up what others could use.
    if (!mayBeStored || isServiceError(error, "no_space")) void pieces.discard();
    throw error;
  }
}

type Pieces = ReturnType<typeof createPieces>;

/** The pieces that have been written under one revision. */
function createPieces(space: BlobSpace, key: string, revision: string) {
  const sent: Promise<unknown>[] = [];

  /** Resolves when another piece may be written. */
  async function write(bytes: Buffer): Promise<void> {
    const name = space.names.piece(key, revision, sent.length);
    const done = space.transfer(name, ["SET", name, bytes, "PX", String(ORPHAN_MS)]);
    done.catch(() => undefined); // Whoever waits for it meets the error.
    sent.push(done);
    await sent.at(-WINDOW);
  }

  return {
    pieceBytes: space.pieceBytes,
    write,

    /** Resolves when all are written. */
    async finish(): Promise<void> {
      await Promise.all(sent.slice(-WINDOW));
    },

    /** Gives the room back, if it can be reached; if not, time does. */
    async discard(): Promise<void> {
      await Promise.allSettled(sent);
      const names = sent.map((_, index) => space.names.piece(key, revision, index));
      while (names.length > 0) {
        try {
          await space.connection.call(names[0] ?? "", ["UNLINK", ...names.splice(0, 1000)]);
        } catch {
          return; // The pieces expire.
        }
      }
    },
  };
}

/** Writes a body in pieces, unless it is short. */
async function receive(
  pieces: Pieces,
  body: Uint8Array | Readable,
  signal: AbortSignal | undefined,
): Promise<Written> {
  if (body instanceof Uint8Array) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    return await writeAll(pieces, cut([bytes], pieces.pieceBytes), signal);
  }
  let written: Written = { size: 0, inline: undefined };
  const consume = async (source: AsyncIterable<Uint8Array | string>) => {
    written = await writeAll(pieces, cut(source, pieces.pieceBytes), signal);
  };
  try {
    await pipeline(body, consume, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted(); // `pipeline` wraps the reason.
    throw error;
  }
  return written;
}

async function writeAll(
  pieces: Pieces,
  source: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
): Promise<Written> {
  let size = 0;
  for await (const piece of source) {
    // Only the last one is shorter than the others, so one this short is all there is. Copied, for its owner may change it
    // while it waits to be sent.
    if (size === 0 && piece.length <= INLINE_BYTES) return { size: piece.length, inline: Buffer.from(piece) };
    size += piece.length;
    await abortable(pieces.write(piece), signal);
  }
  if (size === 0) return { size, inline: Buffer.alloc(0) };
  await abortable(pieces.finish(), signal);
  return { size, inline: undefined };
}
