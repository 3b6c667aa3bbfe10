import { ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import {
  type DueEntry,
  type DueIndex,
  isDueEntry,
  isDueListName,
  isDueQuery,
  ServiceError,
} from "@outrigger/core";
import { removeObject, type S3Context } from "./s3-objects.ts";

const TIME_DIGITS = 9;
const NAME = /^([0-9a-z]{9})\.([A-Za-z0-9_-]{1,64})$/;

/** Entries as empty objects `due/<list>/<time>.<id>`: a service lists keys in their order, and so the oldest first. */
export function createS3DueIndex(context: S3Context): DueIndex {
  const { client, settings, attempts } = context;

  function prefixOf(list: string): string {
    if (!isDueListName(list)) throw new ServiceError("bad_request", "Not a list of a due index");
    return `${settings.prefix}due/${list}/`;
  }

  function keyOf(list: string, entry: DueEntry): string {
    const prefix = prefixOf(list);
    if (!isDueEntry(entry)) throw new ServiceError("bad_request", "Not an entry of a due index");
    return `${prefix}${entry.dueMs.toString(36).padStart(TIME_DIGITS, "0")}.${entry.id}`;
  }

  return {
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
      if (!isDueQuery(untilMs, limit)) {
        throw new ServiceError(
          "bad_request",
          "What is due is asked for by a time, and for 1 to 1000 entries",
        );
      }
      const found: DueEntry[] = [];
      let after: string | undefined;
      do {
        const page = await attempts.run(({ signal }) =>
          client.send(
            new ListObjectsV2Command({
              Bucket: settings.bucket,
              Prefix: prefix,
              MaxKeys: limit,
              ...(after === undefined ? {} : { StartAfter: after }),
            }),
            { abortSignal: signal },
          ),
        );
        const keys = (page.Contents ?? []).map(({ Key = "" }) => Key);
        const entries = keys
          .map((key) => parseName(key.slice(prefix.length)))
          .filter((entry) => entry !== null);
        found.push(...entries.filter(({ dueMs }) => dueMs <= untilMs));
        const isOver = entries.some(({ dueMs }) => dueMs > untilMs) || page.IsTruncated !== true;
        after = isOver ? undefined : keys.at(-1);
      } while (after !== undefined && found.length < limit);
      return found.slice(0, limit);
    },
  };
}

function parseName(name: string): DueEntry | null {
  const [, time, id] = NAME.exec(name) ?? [];
  return time === undefined || id === undefined ? null : { id, dueMs: Number.parseInt(time, 36) };
}
