import { randomFillSync } from "node:crypto";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type BlobInfo, isServiceError, type PutOptions, ServiceError } from "@outrigger/core";
import { abortable } from "@outrigger/core/stores";
import { commitBlob } from "./blob-scripts.ts";
import type { BlobSpace } from "./blob-space.ts";
import { asBuffer, cut, gatherIfShort } from "./cut.ts";
import { statBlob } from "./get-blob.ts";

/** What is no longer than this lies in the head of its blob and is written with it. */
export const INLINE_BYTES = 65_536;
/** Pieces that a crash orphaned expire after this time; a `put` that takes longer fails. */
export const ORPHAN_MS = 3_600_000;
/** Pieces of one blob that are on their way at once. */
const WINDOW = 4;

interface Written {
  size: number;
  /** Bytes per piece; 0 where there are none. */
  pieceBytes: number;
  /** The bytes, where they are few; then there are no pieces. */
  inline: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** Stores a body that is left to `put`: consumed or destroyed when it settles. */
export async function putBlob(
  space: BlobSpace,
  key: string,
  body: Uint8Array | Readable,
  { ifRevision, signal }: PutOptions,
): Promise<BlobInfo> {
  const revision = randomRevision();
  const pieces = createPieces(space, key, revision);
  let mayBeStored = false;
  try {
    // To write what is long for nothing would cost more than to look.
    const look = async () => {
      if (ifRevision === undefined) return;
      const found = (await abortable(statBlob(space, key), signal))?.revision ?? null;
      if (found !== ifRevision) throw changedByOthers();
    };
    const { size, pieceBytes, inline } = await receive(space, pieces, body, look, signal);
    signal?.throwIfAborted();
    // From here on it may have happened, whatever the signal does and whether or not the answer arrives.
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
    if (outcome === "conflict") throw changedByOthers();
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
    // `finish` and `write` report the error. The bytes may still be sent after it, so they are not reused.
    done.then(
      () => space.memory.release(bytes),
      () => undefined,
    );
    sent.push(done);
    await sent.at(-WINDOW);
  }

  return {
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
  space: BlobSpace,
  pieces: Pieces,
  body: Uint8Array | Readable,
  look: () => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<Written> {
  const { wholeBytes, pieceBytes } = space;

  async function write(bytes: Buffer | AsyncIterable<Buffer>): Promise<Written> {
    const whole = Buffer.isBuffer(bytes) && bytes.length <= wholeBytes ? bytes : undefined;
    if (whole !== undefined && whole.length <= INLINE_BYTES) {
      return { size: whole.length, pieceBytes: 0, inline: whole };
    }
    await look();
    const length = whole === undefined ? pieceBytes : wholeBytes;
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
  try {
    await pipeline(
      body,
      async (source: AsyncIterable<Uint8Array | string>) => {
        written = await write(await gatherIfShort(source, wholeBytes, space.memory.join));
      },
      signal === undefined ? {} : { signal },
    );
  } catch (error) {
    signal?.throwIfAborted(); // `pipeline` wraps the reason.
    throw error;
  }
  return written;
}

function changedByOthers(): ServiceError {
  return new ServiceError("conflict", "The blob was changed by somebody else.");
}

const REVISION_BYTES = 12;
/** Revisions per fetch of random bytes: one fetch costs about the same for one as for all. */
const AT_ONCE = 128;

const pool = Buffer.alloc(AT_ONCE * REVISION_BYTES);
let used = pool.length;

/** A unique text of 16 characters. */
function randomRevision(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const begin = used;
  used += REVISION_BYTES;
  return pool.toString("base64url", begin, used);
}
