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

/** A due list is one sorted set. Members contain the time too, because one ID may be due at several times. */
export function createRedisDueIndex(connection: RedisConnection, names: BlobNames): DueIndex {
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
      const name = names.due(list);
      const range = ["0", String(Math.min(untilMs, MAX_DUE_MS)), "LIMIT", "0", String(limit)];
      // Redis answers this command with a list.
      const members = (await connection.call(name, ["ZRANGEBYSCORE", name, ...range])) as Buffer[];
      return members.flatMap((member) => parseDueName(String(member)) ?? []);
    },
  };
}
