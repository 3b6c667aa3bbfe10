import {
  checkDueList,
  checkDueQuery,
  type DueIndex,
  dueName,
  MAX_DUE_MS,
  parseDueName,
} from "@outrigger/core";
import type { BlobNames } from "./blob-names.ts";
import type { RedisConnection } from "./redis-connection.ts";

/** A sorted set per list. Its members have the time in them too, for an ID may be there at several. */
export function createRedisDueIndex(connection: RedisConnection, names: BlobNames): DueIndex {
  return {
    async addDue(list, entry, signal) {
      checkDueList(list);
      const member = dueName(entry);
      signal?.throwIfAborted();
      await connection.call(names.due(list), ["ZADD", names.due(list), String(entry.dueMs), member]);
    },

    async removeDue(list, entry) {
      checkDueList(list);
      await connection.call(names.due(list), ["ZREM", names.due(list), dueName(entry)]);
    },

    async listDue(list, untilMs, limit) {
      checkDueList(list);
      checkDueQuery(untilMs, limit);
      const name = names.due(list);
      const until = String(Math.min(untilMs, MAX_DUE_MS));
      const reply = await connection.call(name, [
        "ZRANGEBYSCORE",
        name,
        "0",
        until,
        "LIMIT",
        "0",
        String(limit),
      ]);
      // Nothing else is ever added.
      return (reply as Buffer[]).flatMap((member) => parseDueName(String(member)) ?? []);
    },
  };
}
