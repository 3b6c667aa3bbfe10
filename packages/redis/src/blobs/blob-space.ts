import { ServiceError } from "@outrigger/core";
import type { RedisConnection, RedisScript } from "../connection/redis-connection.ts";
import type { RedisArguments, RedisReply } from "../connection/redis-driver.ts";
import { type BlobNames, createBlobNames } from "./blob-names.ts";
import { createGate } from "./gate.ts";
import { createLentMemory, type LentMemory } from "./lent-memory.ts";

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
