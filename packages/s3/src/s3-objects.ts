import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  type S3Client,
} from "@aws-sdk/client-s3";
import { ServiceError } from "@outrigger/core";
import type { BlobInfo, ByteRange, StoredBlob } from "@outrigger/core/stores";
import { MARK_BYTES } from "./gather-body.ts";
import { ALTERED, discard, objectBody, readBody } from "./object-body.ts";
import type { Attempts } from "./s3-attempts.ts";
import { isBeyondEnd, isMissing } from "./s3-errors.ts";
import type { S3Settings } from "./s3-options.ts";
import { CHECKSUM, parseRevision, revisionOf } from "./s3-revision.ts";

/** State that the functions on objects share. */
export interface S3Context {
  client: S3Client;
  settings: S3Settings;
  attempts: Attempts;
}

/** Bodies up to this size are read at once and returned as a Buffer. */
const BUFFERED_BYTES = 1024 * 1024;

/** Size limit of an object. A range that ends at or beyond it is sent as an open range. */
const MAX_OBJECT_BYTES = 5 * 2 ** 40;

const MAX_REMOVALS = 10;

/** Returns the object's blob, or the requested range of it; `null` if there is no object. */
export async function readObject(
  { client, settings, attempts }: S3Context,
  key: string,
  range: ByteRange | undefined,
  signal?: AbortSignal,
): Promise<StoredBlob | null> {
  let received = 0;
  async function work(attempt: { signal: AbortSignal }): Promise<StoredBlob | null> {
    const output = await client.send(
      new GetObjectCommand({
        Bucket: settings.bucket,
        Key: key,
        ...(range === undefined ? {} : { Range: rangeHeader(range) }),
      }),
      { abortSignal: attempt.signal },
    );
    const source = output.Body;
    if (!(source instanceof Readable)) throw new Error("The response has no stream");
    if (attempt.signal.aborted) discard(source);
    try {
      const info = { size: sizeOf(output, range), revision: revisionOf(output) };
      const wanted = range === undefined ? info.size : Math.min(range.end, info.size - 1) - range.start + 1;
      if (wanted < 1 && range !== undefined) throw beyondEnd();
      const checksum = range === undefined ? output.Metadata?.[CHECKSUM] : undefined;
      if (wanted > BUFFERED_BYTES) {
        return { ...info, body: objectBody(source, wanted, settings.timeoutMs, checksum) };
      }
      const bytes = await readBody(source, wanted, (length) => {
        received += length;
      });
      // An error without a status is retried: the next reply may be right.
      if (checksum !== undefined && checksum !== String(crc32(bytes))) throw new Error(ALTERED);
      return { ...info, body: bytes };
    } catch (error) {
      discard(source);
      throw error;
    }
  }
  return attempts.run(
    async (attempt) => {
      try {
        return await work(attempt);
      } catch (error) {
        if (isMissing(error)) return null;
        throw isBeyondEnd(error) ? beyondEnd() : error;
      }
    },
    { signal, progress: () => received },
  );
}

/**
 * Returns size and revision of an object's blob; `null` if there is no object. It requests the first byte with GET:
 * the reply to HEAD has no body, so a missing bucket would look like a missing object.
 */
export async function statObject(context: S3Context, key: string): Promise<BlobInfo | null> {
  const { client, settings, attempts } = context;
  return attempts.run(async ({ signal }) => {
    try {
      const range = { start: 0, end: 0 };
      const output = await client.send(
        new GetObjectCommand({ Bucket: settings.bucket, Key: key, Range: rangeHeader(range) }),
        { abortSignal: signal },
      );
      await output.Body?.transformToByteArray();
      return { size: sizeOf(output, range), revision: revisionOf(output) };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  });
}

/** Lists keys that begin with `prefix` and follow `after`, in order. */
export async function listObjects(
  { client, settings, attempts }: S3Context,
  prefix: string,
  after: string | undefined,
  limit: number,
): Promise<{ keys: string[]; isLast: boolean }> {
  const start = after === undefined ? {} : { StartAfter: after };
  const request = { Bucket: settings.bucket, Prefix: prefix, MaxKeys: limit, ...start };
  const page = await attempts.run(({ signal }) =>
    client.send(new ListObjectsV2Command(request), { abortSignal: signal }),
  );
  const keys = (page.Contents ?? []).map(({ Key = "" }) => Key);
  return { keys, isLast: page.IsTruncated !== true };
}

/** Deletes an object. Does nothing if there is none. */
export async function removeObject({ client, settings, attempts }: S3Context, key: string): Promise<void> {
  await attempts.run(({ signal }) =>
    client.send(new DeleteObjectCommand({ Bucket: settings.bucket, Key: key }), { abortSignal: signal }),
  );
}

/**
 * Deletes the blob in an object and verifies the deletion: Ceph also reports success if a concurrent write won,
 * which may have replaced this very blob.
 * @returns whether there was a blob.
 */
export async function removeBlob(context: S3Context, key: string): Promise<boolean> {
  const lineage = await lineageOf(context, key);
  if (lineage === null) return false;
  let left: string | null = lineage;
  for (let turn = 0; turn < MAX_REMOVALS && left === lineage; turn++) {
    await removeObject(context, key);
    left = await lineageOf(context, key);
  }
  if (left !== lineage) return true;
  throw new ServiceError("store_unavailable", `The object still exists after ${MAX_REMOVALS} deletions`);
}

async function lineageOf(context: S3Context, key: string): Promise<string | null> {
  const info = await statObject(context, key);
  return info === null ? null : (parseRevision(info.revision)?.lineage ?? "");
}

function rangeHeader({ start, end }: ByteRange): string {
  return end < MAX_OBJECT_BYTES ? `bytes=${start}-${end}` : `bytes=${start}-`;
}

/** Length of the blob in an object, from the reply to a whole or a range request. */
function sizeOf(
  output: { ContentLength?: number | undefined; ContentRange?: string | undefined },
  range: ByteRange | undefined,
): number {
  const length = range === undefined ? output.ContentLength : Number(output.ContentRange?.split("/")[1]);
  if (length !== undefined && length >= MARK_BYTES) return length - MARK_BYTES;
  throw new ServiceError(
    "store_unavailable",
    "The object was not stored by Outrigger, or the service does not support ranges",
  );
}

function beyondEnd(): ServiceError {
  return new ServiceError("bad_request", "The range lies outside of the blob.");
}
