import {
  type DueIndex,
  isDueEntry,
  isDueListName,
  isDueQuery,
  MAX_DUE_MS,
  ServiceError,
} from "@outrigger/core";
import type { BlobNames } from "./blob-names.ts";
import type { RedisConnection } from "./redis-connection.ts";

/** A sorted set per list. Its members have the time in them too, for an ID may be there at several. */
export function createRedisDueIndex(connection: RedisConnection, names: BlobNames): DueIndex {
  return {
    async addDue(list, { id, dueMs }, signal) {
      check(isDueListName(list) && isDueEntry({ id, dueMs }));
      signal?.throwIfAborted();
      const name = names.due(list);
      await connection.call(name, ["ZADD", name, String(dueMs), `${dueMs}:${id}`]);
    },

    async removeDue(list, { id, dueMs }) {
      check(isDueListName(list) && isDueEntry({ id, dueMs }));
      const name = names.due(list);
      await connection.call(name, ["ZREM", name, `${dueMs}:${id}`]);
    },

    async listDue(list, untilMs, limit) {
      check(isDueListName(list) && isDueQuery(untilMs, limit));
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
      return (reply as Buffer[]).map((member) => {
        const [time = "", id = ""] = String(member).split(":");
        return { id, dueMs: Number(time) };
      });
    },
  };
}

function check(isRight: boolean): void {
  if (!isRight)
    throw new ServiceError("bad_request", "That is no list, no entry or no question of a due index.");
}
