import type { DueEntry, DueIndex } from "@outrigger/core";
import { checkDueList, checkDueQuery, dueName, MAX_DUE_MS, parseDueName } from "@outrigger/core/stores";
import type { RedisConnection } from "../connection/redis-connection.ts";
import type { BlobNames } from "./blob-names.ts";

/**
 * Sorted sets per due list in a cluster, spread over its masters. After a change of this number, lists must
 * be rebuilt.
 */
const CLUSTER_PARTS = 16;

/**
 * A due list is one sorted set on a single server and several in a cluster, where the ID of an entry selects the
 * set. Members contain the time too, because one ID may be due at several times.
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
      // The oldest entries of the list are among the oldest of each part.
      const replies = await Promise.all(
        partsOf(list).map((name) => connection.call(name, ["ZRANGEBYSCORE", name, ...range])),
      );
      const members = (replies as Buffer[][]).flat().map(String); // The replies of ZRANGEBYSCORE.
      // Names sort by time. The sets contain only such names.
      const oldest = replies.length === 1 ? members : members.sort().slice(0, limit);
      return oldest.flatMap((member) => parseDueName(member) ?? []);
    },
  };
}

/** FNV-1a: spreads IDs of any form evenly. It must never change, because `removeDue` has to find the entry. */
function partOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 16) % CLUSTER_PARTS;
}
