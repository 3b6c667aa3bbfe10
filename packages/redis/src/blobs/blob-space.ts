import { ServiceError } from "@outrigger/core";
import type { RedisConnection, RedisScript } from "../connection/redis-connection.ts";
import type { RedisArguments, RedisReply } from "../connection/redis-driver.ts";
import { type BlobNames, createBlobNames } from "./blob-names.ts";

/** What the parts of a blob store share. */
export interface BlobSpace {
  readonly connection: RedisConnection;
  readonly names: BlobNames;
  /** Length of a piece of a blob that is being written, in bytes. */
  readonly pieceBytes: number;
  /** What is no longer than this is written as one piece, in bytes. */
  readonly wholeBytes: number;
  /** For bytes that are on their way. */
  readonly memory: LentMemory;
  /** How long what was replaced or deleted can still be read by whoever began to, in milliseconds. */
  readonly supersededMs: number;
  /** How long a blob is there that is not written again, in milliseconds; 0: for ever. */
  readonly ttlMs: number;
  /** Runs a command on the piece called `name` when not too many are on their way. */
  transfer(name: string, args: RedisArguments): Promise<RedisReply>;
  /** Runs one of the scripts that change a blob, and tells what happened. Never late: that rejects. */
  change(script: RedisScript, key: string, args: RedisArguments): Promise<string>;
}

/** So many pieces share the connection: the last must not miss its deadline for those before it. */
const TRANSFERS = 8;
/** A command no longer than this holds up neither the server nor others on the connection. */
const MAX_WHOLE_BYTES = 1_048_576;

export function createBlobSpace(
  connection: RedisConnection,
  options: { prefix: string; pieceBytes: number; supersededMs: number; ttlMs: number },
): BlobSpace {
  const { prefix, ...sizes } = options;
  const names = createBlobNames(prefix);
  const { pieceBytes } = sizes;
  const wholeBytes = Math.max(pieceBytes, Math.min(2 * pieceBytes, MAX_WHOLE_BYTES));
  const gate = createGate(TRANSFERS);
  // How far the server's clock is ahead of ours, which begins with this process.
  let aheadMs: number | undefined;

  /**
   * A server that hangs may do what it was told long after we have said that it failed. So it is told until when, by its own
   * clock; what that shows is learned from each answer, and learned anew where it has been set.
   */
  async function change(script: RedisScript, key: string, args: RedisArguments): Promise<string> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const sentMs = performance.now();
      const lastMs = aheadMs === undefined ? 0 : Math.ceil(sentMs + aheadMs + connection.timeoutMs);
      const rest = [String(lastMs), names.pieces(key), key, ...args];
      const reply = await connection.run(script, [names.head(key), names.index(key)], rest);
      const [outcome, serverMs] = reply as [Buffer, number]; // As these scripts answer.
      aheadMs = serverMs - sentMs;
      if (String(outcome) !== "late") return String(outcome);
    }
    throw new ServiceError("store_unavailable", "The clock of the Redis server jumps.");
  }

  return {
    connection,
    names,
    ...sizes,
    wholeBytes,
    memory: createLentMemory(wholeBytes),
    transfer: (name, args) => gate(() => connection.call(name, args)),
    change,
  };
}

/** Lets at most `limit` pieces of work run at once; others wait in order. */
function createGate(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // Whoever waits next takes the place over, so that nobody comes in between.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** Memory for bytes that are put together to be sent, used again and again: new memory costs more than sending what is in it. */
export interface LentMemory {
  /** As `Buffer.concat`; the memory is on loan where there is much of it. */
  join(chunks: readonly Buffer[], length: number): Buffer;
  /** Takes memory back that nobody will read or write any more. What was not lent is left alone. */
  release(bytes: Buffer): void;
}

/** What is shorter is cheap enough. */
const MIN_BYTES = 65_536;
/** So much is held for ever, once it was needed at the same time. */
const MAX_KEPT = 4;

/** @param maxBytes The longest that is lent; longer ones are new. */
function createLentMemory(maxBytes: number): LentMemory {
  const kept: ArrayBuffer[] = [];
  const lent = new WeakSet<ArrayBufferLike>();
  return {
    join(chunks, length) {
      if (length < MIN_BYTES || length > maxBytes) return Buffer.concat(chunks, length);
      const memory = kept.pop() ?? new ArrayBuffer(maxBytes);
      lent.add(memory);
      const bytes = Buffer.from(memory, 0, length);
      let at = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, at);
        at += chunk.length;
      }
      return bytes;
    },
    release({ buffer }) {
      if (!lent.delete(buffer) || kept.length >= MAX_KEPT) return;
      kept.push(buffer as ArrayBuffer); // As all that are lent.
    },
  };
}
