import { Readable } from "node:stream";
import { GetObjectCommand, PutObjectCommand, type PutObjectCommandInput } from "@aws-sdk/client-s3";
import { type BlobInfo, writeConflict } from "@outrigger/core/stores";
import { type BodyContent, type GatheredBody, gatherBody, MARK_BYTES } from "./gather-body.ts";
import type { Attempt } from "./s3-attempts.ts";
import { isBeyondEnd, isMissing, isRefusedCondition } from "./s3-errors.ts";
import type { S3Context } from "./s3-objects.ts";
import { CHECKSUM, LINEAGE, revisionOf } from "./s3-revision.ts";

/** Upper bound of the bytes that are in flight: read from the body, but not yet received by the service. */
const IN_FLIGHT_BYTES = 8 * 1024 * 1024;
/** Minimum upload rate. A slower upload times out. */
const MIN_BYTES_PER_SECOND = 2 ** 20;

/** Headers of a conditional write; empty for an unconditional one. */
export interface WriteCondition {
  IfMatch?: string;
  IfNoneMatch?: "*";
  /** Lineage of the blob that is replaced. @default a new one */
  lineage?: string;
}

/**
 * Writes an object with a single request, so the write is atomic.
 * @param conditionOf Called once the body is complete.
 */
export async function putObject(
  context: S3Context,
  key: string,
  body: Uint8Array | Readable,
  conditionOf: () => Promise<WriteCondition>,
  signal?: AbortSignal,
): Promise<BlobInfo> {
  const gathered = await gatherBody(body, { ...context.settings, signal });
  try {
    return await writeObject(context, key, gathered, await conditionOf(), signal);
  } finally {
    await gathered.dispose();
  }
}

async function writeObject(
  context: S3Context,
  key: string,
  body: GatheredBody,
  condition: WriteCondition,
  signal: AbortSignal | undefined,
): Promise<BlobInfo> {
  const { settings, attempts } = context;
  const { lineage = body.mark.toString("hex"), ...headers } = condition;
  const metadata = { [LINEAGE]: lineage, [CHECKSUM]: String(body.checksum) };
  const write = { Bucket: settings.bucket, Key: key, Metadata: metadata, ...headers };
  const length = body.size + MARK_BYTES;
  let content: BodyContent | undefined;
  const readBytes = () => content?.readBytes() ?? 0;
  const leave = () => {
    if (content?.body instanceof Readable) content.body.destroy();
  };

  async function work(attempt: Attempt): Promise<BlobInfo> {
    leave();
    content = body.content();
    try {
      return { size: body.size, revision: await send(context, write, content, length, attempt) };
    } catch (error) {
      if (Object.keys(headers).length === 0 || !isRefusedCondition(error)) throw error;
      // The conflicting write may be an earlier attempt of this call whose reply was lost.
      const revision = isFirst(attempt, error) ? null : await ownRevision(context, key, body, attempt);
      if (revision === null) throw writeConflict();
      return { size: body.size, revision };
    }
  }

  const unsentBytes = body.isBuffered ? length : Math.min(length, IN_FLIGHT_BYTES);
  try {
    return await attempts.run(work, {
      signal,
      // The service cannot store the object before it has all bytes. After that, only its reply tells the
      // outcome.
      isAbortable: () => !body.isBuffered && readBytes() < length,
      allowanceMs: Math.ceil((unsentBytes / MIN_BYTES_PER_SECOND) * 1000),
      progress: readBytes,
    });
  } finally {
    leave();
  }
}

async function send(
  { client }: S3Context,
  write: PutObjectCommandInput,
  { body, readBytes }: BodyContent,
  length: number,
  { signal }: Attempt,
): Promise<string> {
  const aborter = new AbortController();
  const abort = () => aborter.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let trouble: unknown;
  if (body instanceof Readable) {
    // Without this, the SDK would wait for the rest of the body for ever.
    body.once("error", (error) => {
      trouble = error;
      aborter.abort(error);
    });
  }
  try {
    const output = await client.send(
      new PutObjectCommand({
        ...write,
        Body: body,
        ContentLength: length,
        ContentType: "application/octet-stream",
      }),
      { abortSignal: aborter.signal },
    );
    return revisionOf({ ETag: output.ETag, Metadata: write.Metadata });
  } catch (error) {
    throw trouble ?? error;
  } finally {
    signal.removeEventListener("abort", abort);
    // If the service replied before it read everything, the connection cannot be reused.
    if (body instanceof Readable && readBytes() < length) aborter.abort();
  }
}

function isFirst(attempt: Attempt, error: unknown): boolean {
  // A client passed as an option may retry by itself.
  const attempts = (error as { $metadata?: { attempts?: number } }).$metadata?.attempts ?? 1; // The SDK's metadata.
  return attempt.number === 1 && attempts === 1;
}

/** The revision of the object if it ends with this body's mark; otherwise `null`. */
async function ownRevision(
  { client, settings }: S3Context,
  key: string,
  { size, mark }: GatheredBody,
  { signal }: Attempt,
): Promise<string | null> {
  try {
    const output = await client.send(
      new GetObjectCommand({
        Bucket: settings.bucket,
        Key: key,
        Range: `bytes=${size}-${size + MARK_BYTES - 1}`,
      }),
      { abortSignal: signal },
    );
    const found = (await output.Body?.transformToByteArray()) ?? new Uint8Array();
    return mark.equals(found) ? revisionOf(output) : null;
  } catch (error) {
    if (isMissing(error) || isBeyondEnd(error)) return null;
    throw error;
  }
}
