import { ServiceError } from "@outrigger/core";
import type { RedisConnection, RedisScript } from "../connection/redis-connection.ts";
import type { RedisArguments, RedisReply } from "../connection/redis-driver.ts";
import { type BlobNames, createBlobNames } from "./blob-names.ts";

/** State that the parts of a blob store share. */
export interface BlobSpace {
  readonly connection: RedisConnection;
  readonly names: BlobNames;
  /** Buffers for bytes that are being sent. */
  readonly memory: LentMemory;
  /** How long a read in progress may still fetch a replaced or deleted blob, in milliseconds. */
  readonly supersededMs: number;
  /** Time to live of a blob after its last write, in milliseconds; 0: it never expires. */
  readonly ttlMs: number;
  /** Runs a command on the piece called `name`, as soon as fewer than 8 such commands are under way. */
  transfer(name: string, args: RedisArguments): Promise<RedisReply>;
  /**
   * Runs one of the scripts that change a blob and returns its outcome. Rejects instead of returning "late".
   */
  change(script: RedisScript, key: string, args: RedisArguments): Promise<string>;
}

/**
 * Pieces that share the connection at once. With more, the last could miss its deadline while it waits for
 * the others.
 */
const TRANSFERS = 8;
/** Length of the pieces of new blobs, in bytes. */
export const PIECE_BYTES = 524_288;
/** Blobs up to this length are written as one piece: such a command delays neither the server nor other calls. */
export const WHOLE_BYTES = 1_048_576;

export function createBlobSpace(
  connection: RedisConnection,
  options: { prefix: string; supersededMs: number; ttlMs: number },
): BlobSpace {
  const { prefix, ...times } = options;
  const names = createBlobNames(prefix);
  const gate = createGate(TRANSFERS);
  // How far the server's clock is ahead of `performance.now()`, which starts with this process.
  let aheadMs: number | undefined;

  /**
   * A server that hangs may run a script long after its call was rejected. Each script therefore carries a deadline by the
   * server's clock. Each reply contains that clock, so the next call detects a clock that was set.
   */
  async function change(script: RedisScript, key: string, args: RedisArguments): Promise<string> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const sentMs = performance.now();
      const lastMs = aheadMs === undefined ? 0 : Math.ceil(sentMs + aheadMs + connection.timeoutMs);
      const rest = [String(lastMs), names.pieces(key), key, ...args];
      const reply = await connection.run(script, [names.head(key), names.index(key)], rest);
      const [outcome, serverMs] = reply as [Buffer, number]; // The reply of these scripts.
      aheadMs = serverMs - sentMs;
      if (String(outcome) !== "late") return String(outcome);
    }
    throw new ServiceError(
      "store_unavailable",
      "The clock of the Redis server jumped three times in a row. Check its time synchronisation.",
    );
  }

  return {
    connection,
    names,
    ...times,
    memory: createLentMemory(),
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
      // The slot passes directly to the next waiter, so that no later call overtakes it.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/**
 * Reused buffers for bytes that are joined before they are sent: allocating a buffer costs more than sending
 * it.
 */
export interface LentMemory {
  /** Like `Buffer.concat`. A long result lies in reused memory until `release`. */
  join(chunks: readonly Buffer[], length: number): Buffer;
  /** Returns the memory of a `join` for reuse. Ignores other buffers. */
  release(bytes: Buffer): void;
}

/** Shorter buffers are not reused: they are cheap to allocate. */
const MIN_BYTES = 65_536;
/** Number of free buffers that are kept. */
const MAX_KEPT = 4;

function createLentMemory(): LentMemory {
  const kept: ArrayBuffer[] = [];
  const lent = new WeakSet<ArrayBufferLike>();
  return {
    join(chunks, length) {
      if (length < MIN_BYTES || length > WHOLE_BYTES) return Buffer.concat(chunks, length);
      const memory = kept.pop() ?? new ArrayBuffer(WHOLE_BYTES);
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
      kept.push(buffer as ArrayBuffer); // All lent buffers are.
    },
  };
}
