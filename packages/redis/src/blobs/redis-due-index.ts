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

/** Sorted sets per due list, so that no key and no master of a cluster carries all of it. Must never become fewer. */
const PARTS = 256;
/** Earlier versions spread a list of a cluster over the first of these parts, and kept that of a server in one set. */
const EARLIER_PARTS = 16;

/**
 * A due list is several sorted sets, of which the ID of an entry selects one. Members contain the time too, because
 * one ID may be due at several times.
 */
export function createRedisDueIndex(connection: RedisConnection, names: BlobNames): DueIndex {
  const partsOf = (list: string) => [
    names.due(list),
    ...Array.from({ length: PARTS }, (_, part) => names.duePart(list, part)),
  ];

  return {
    async addDue(list, entry, signal) {
      checkDueList(list);
      const member = dueName(entry);
      signal?.throwIfAborted();
      const name = names.duePart(list, partOf(entry.id, PARTS));
      await connection.call(name, ["ZADD", name, String(entry.dueMs), member]);
    },

    async removeDue(list, entry) {
      checkDueList(list);
      const member = dueName(entry);
      const parts = [PARTS, EARLIER_PARTS].map((count) => names.duePart(list, partOf(entry.id, count)));
      for (const name of [...parts, names.due(list)]) {
        if ((await connection.call(name, ["ZREM", name, member])) !== 0) return;
      }
    },

    async listDue(list, untilMs, limit) {
      checkDueList(list);
      checkDueQuery(untilMs, limit);
      const until = String(Math.min(untilMs, MAX_DUE_MS));
      const first = async (name: string, count: number) => {
        const range = ["0", until, "LIMIT", "0", String(count)];
        const members = (await connection.call(name, ["ZRANGEBYSCORE", name, ...range])) as Buffer[];
        return { name, members: members.map(String) };
      };

      const few = Math.ceil(limit / 16);
      const found = await Promise.all(partsOf(list).map((name) => first(name, few)));
      const youngest = oldestOf(found, limit)[limit - 1];
      // Only these parts can hold more of the oldest. With evenly spread entries there are few.
      const unread = found.filter(({ members }) => {
        return members.length === few && (youngest === undefined || (members[few - 1] ?? "") < youngest);
      });
      const rest = await Promise.all(unread.map(({ name }) => first(name, limit)));
      return oldestOf([...found, ...rest], limit).flatMap((member) => parseDueName(member) ?? []);
    },
  };
}

/** Members sort by time. An entry that an earlier version added can be in two parts. */
function oldestOf(parts: readonly { members: readonly string[] }[], limit: number): string[] {
  return [...new Set(parts.flatMap(({ members }) => members))].sort().slice(0, limit);
}

/** FNV-1a: spreads IDs of any form evenly. It must never change, because `removeDue` has to find the entry. */
function partOf(id: string, parts: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 16) % parts;
}
