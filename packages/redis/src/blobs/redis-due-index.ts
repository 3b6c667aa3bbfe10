import type { DueEntry, DueIndex } from "@outrigger/core";
import { checkDueList, checkDueQuery, dueName, MAX_DUE_MS, parseDueName } from "@outrigger/core/stores";
import type { RedisConnection } from "../connection/redis-connection.ts";
import type { BlobNames } from "./blob-names.ts";

/** Sorted sets that a list consists of in a cluster, whose masters share them. Where it changes, lists have to be made anew. */
const CLUSTER_PARTS = 16;

/**
 * A sorted set per list on a server, and several in a cluster: an entry's ID says in which it is. Their members have the time in
 * them too, for an ID may be there at several.
 */
export function createRedisDueIndex(connection: RedisConnection, names: BlobNames): DueIndex {
  const partsOf = (list: string) =>
    connection.isCluster
      ? Array.from({ length: CLUSTER_PARTS }, (_, part) => names.duePart(list, part))
      : [names.due(list)];

  function nameOf(list: string, { id }: DueEntry): string {
    return connection.isCluster ? names.duePart(list, partOf(id)) : names.due(list);
  }

  return {
    async addDue(list, entry, signal) {
      checkDueList(list);
      const member = dueName(entry);
      signal?.throwIfAborted();
      const name = nameOf(list, entry);
      await connection.call(name, ["ZADD", name, String(entry.dueMs), member]);
    },

    async removeDue(list, entry) {
      checkDueList(list);
      const member = dueName(entry);
      const name = nameOf(list, entry);
      await connection.call(name, ["ZREM", name, member]);
    },

    async listDue(list, untilMs, limit) {
      checkDueList(list);
      checkDueQuery(untilMs, limit);
      const range = ["0", String(Math.min(untilMs, MAX_DUE_MS)), "LIMIT", "0", String(limit)];
      // The oldest of all are among the oldest of each.
      const replies = await Promise.all(
        partsOf(list).map((name) => connection.call(name, ["ZRANGEBYSCORE", name, ...range])),
      );
      const members = (replies as Buffer[][]).flat().map(String); // As ZRANGEBYSCORE answers.
      // Names sort by time. Nothing else is ever added.
      const oldest = replies.length === 1 ? members : members.sort().slice(0, limit);
      return oldest.flatMap((member) => parseDueName(member) ?? []);
    },
  };
}

/** Spreads IDs evenly whatever they look like: FNV-1a. The same for ever, for what is removed has to be found. */
function partOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 16) % CLUSTER_PARTS;
}
