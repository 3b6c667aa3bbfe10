import {
  checkDueList,
  checkDueQuery,
  type DueIndex,
  dueName,
  MAX_DUE_MS,
  parseDueName,
} from "@outrigger/core/stores";
import type { RedisConnection } from "../connection/redis-connection.ts";
import type { BlobNames } from "./blob-names.ts";

/** Earlier versions spread a list over this many sorted sets, or over the first 16 of them. */
const EARLIER_PARTS = 256;
const MOVED_AT_ONCE = 1000;
/** Processes of earlier versions may run for a while beside new ones. */
const MOVE_EVERY_MS = 3_600_000;

/** A due list is one sorted set. Members contain the time too, because one ID may be due at several times. */
export function createRedisDueIndex(connection: RedisConnection, names: BlobNames): DueIndex {
  /** The last move of each list, which counts until a time by the monotonic clock. */
  const moves = new Map<string, { done: Promise<unknown>; untilMs: number }>();

  async function oldest(name: string, until: string, limit: number): Promise<string[]> {
    const range = ["0", until, "LIMIT", "0", String(limit)];
    return ((await connection.call(name, ["ZRANGEBYSCORE", name, ...range])) as Buffer[]).map(String);
  }

  async function movePart(from: string, to: string): Promise<void> {
    for (;;) {
      const members = await oldest(from, "+inf", MOVED_AT_ONCE);
      if (members.length === 0) return;
      const scored = members.flatMap((member) => [String(parseDueName(member)?.dueMs ?? 0), member]);
      await connection.call(to, ["ZADD", to, ...scored]);
      // A process that dies before this command leaves the entries in both sets, and they are moved again.
      await connection.call(from, ["ZREM", from, ...members]);
    }
  }

  /** Moves entries that earlier versions added, and deletes what their job queue left. */
  function moveEarlier(list: string): Promise<unknown> {
    const parts = Array.from({ length: EARLIER_PARTS }, (_, part) => names.duePart(list, part));
    const [first, ...others] = names.earlierQueue;
    return Promise.all([
      ...parts.map((part) => movePart(part, names.due(list))),
      connection.call(first, ["UNLINK", first, ...others]),
    ]);
  }

  function movedEarlier(list: string): Promise<unknown> {
    const last = moves.get(list);
    if (last !== undefined && performance.now() < last.untilMs) return last.done;
    const done = moveEarlier(list);
    moves.set(list, { done, untilMs: performance.now() + MOVE_EVERY_MS });
    done.catch(() => moves.delete(list)); // Its callers get the error.
    return done;
  }

  return {
    async addDue(list, entry, signal) {
      checkDueList(list);
      const member = dueName(entry);
      signal?.throwIfAborted();
      const name = names.due(list);
      await connection.call(name, ["ZADD", name, String(entry.dueMs), member]);
    },

    async removeDue(list, entry) {
      checkDueList(list);
      const name = names.due(list);
      await connection.call(name, ["ZREM", name, dueName(entry)]);
    },

    async listDue(list, untilMs, limit) {
      checkDueList(list);
      checkDueQuery(untilMs, limit);
      await movedEarlier(list);
      const members = await oldest(names.due(list), String(Math.min(untilMs, MAX_DUE_MS)), limit);
      return members.flatMap((member) => parseDueName(member) ?? []);
    },
  };
}
