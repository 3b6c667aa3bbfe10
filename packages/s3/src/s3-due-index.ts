import { PutObjectCommand } from "@aws-sdk/client-s3";
import {
  checkDueList,
  checkDueQuery,
  type DueEntry,
  type DueIndex,
  dueName,
  parseDueName,
} from "@outrigger/core/stores";
import { listObjects, removeObject, type S3Context } from "./s3-objects.ts";

/** A poll is a LIST request: about 90,000 per node and month. Work found by a poll begins within 30 s of its arrival. */
const POLL_MS = 29_000;

/**
 * A due index of empty objects `due/<list>/<time>.<id>`. The service lists keys in order, so the oldest come
 * first.
 */
export function createS3DueIndex(context: S3Context): DueIndex {
  const { client, settings, attempts } = context;

  function prefixOf(list: string): string {
    checkDueList(list);
    return `${settings.prefix}due/${list}/`;
  }

  function keyOf(list: string, entry: DueEntry): string {
    return prefixOf(list) + dueName(entry);
  }

  return {
    pollMs: POLL_MS,

    async addDue(list, entry, signal) {
      const key = keyOf(list, entry);
      signal?.throwIfAborted();
      await attempts.run((attempt) =>
        client.send(new PutObjectCommand({ Bucket: settings.bucket, Key: key, Body: Buffer.alloc(0) }), {
          abortSignal: attempt.signal,
        }),
      );
    },

    async removeDue(list, entry) {
      await removeObject(context, keyOf(list, entry));
    },

    async listDue(list, untilMs, limit) {
      const prefix = prefixOf(list);
      checkDueQuery(untilMs, limit);
      const found: DueEntry[] = [];
      let after: string | undefined;
      do {
        const { keys, isLast } = await listObjects(context, prefix, after, limit);
        const entries = keys
          .map((key) => parseDueName(key.slice(prefix.length)))
          .filter((entry) => entry !== null);
        found.push(...entries.filter(({ dueMs }) => dueMs <= untilMs));
        const isOver = entries.some(({ dueMs }) => dueMs > untilMs) || isLast;
        after = isOver ? undefined : keys.at(-1);
      } while (after !== undefined && found.length < limit);
      return found.slice(0, limit);
    },
  };
}
