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
  /** How long a read that has begun may still fetch a replaced or deleted blob, in milliseconds. */
  readonly supersededMs: number;
  /** Life of a blob after its last write, in milliseconds; 0: it never expires. */
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
   * A server that hangs may run a script long after its call was rejected. Each script therefore carries a deadline by the
   * server's clock. Each reply gives that clock, so a clock that was set is noticed at the next call.
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
      // The slot goes to the next in line directly, so that no newcomer overtakes it.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** Reused buffers for bytes that are joined before they are sent: allocating costs more than sending. */
export interface LentMemory {
  /** As `Buffer.concat`. A long result lies in reused memory until `release`. */
  join(chunks: readonly Buffer[], length: number): Buffer;
  /** Makes the memory of a `join` free for the next. Other buffers are left alone. */
  release(bytes: Buffer): void;
}

/** Shorter buffers are cheap to allocate. */
const MIN_BYTES = 65_536;
/** Free buffers that are kept. */
const MAX_KEPT = 4;

/** @param maxBytes Longest buffer that is reused. */
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
