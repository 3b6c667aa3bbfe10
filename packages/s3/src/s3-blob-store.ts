import { S3Client } from "@aws-sdk/client-s3";
import {
  type BlobStore,
  checkBlobKey,
  checkKeyRange,
  checkListing,
  type DueIndex,
  type KeyPage,
  type LeaseStore,
  type ListOptions,
  type RangeListing,
  rangeWithin,
  withBody,
} from "@outrigger/core/stores";
import { Attempts } from "./s3-attempts.ts";
import { ConditionalWrites } from "./s3-capabilities.ts";
import { createS3DueIndex } from "./s3-due-index.ts";
import { createS3Leases } from "./s3-leases.ts";
import { listObjects, readObject, removeBlob, type S3Context, statObject } from "./s3-objects.ts";
import { type S3BlobStoreOptions, type S3Capabilities, type S3Settings, settingsOf } from "./s3-options.ts";
import { putObject } from "./write-object.ts";

/** Maximum number of connections. */
const MAX_SOCKETS = 100;

export interface S3BlobStore extends BlobStore, DueIndex, RangeListing, Required<LeaseStore> {
  /**
   * Returns what the service can do. It is probed once with an object `probe/…`, here or at the first
   * conditional write.
   * Rejects with `store_unavailable` if the service cannot be reached, so it also serves as a check at startup.
   */
  capabilities(): Promise<S3Capabilities>;
}

/**
 * A store of blobs as objects of a bucket, in any S3-compatible service. An object is the blob's bytes and sixteen
 * random bytes, written by a single request, so a write is atomic. The random bytes make every ETag unique. The
 * ETag is therefore the revision, and `If-Match` matches exactly one write.
 *
 * Below the prefix, keys of blobs begin with `blobs/`, those of the due index with `due/`, those of leases
 * with `leases/`.
 */
export function createS3BlobStore(options: S3BlobStoreOptions): S3BlobStore {
  return openStore(settingsOf(options));
}

/** A store with these settings. */
export function openStore(settings: S3Settings): S3BlobStore {
  // The option admits what has the methods of the SDK's client, and documents that it must be one.
  const client = (settings.client as S3Client | undefined) ?? createS3Client(settings);
  const attempts = new Attempts(settings.timeoutMs);
  const context: S3Context = { client, settings, attempts };
  const root = `${settings.prefix}blobs/`;
  const writes = new ConditionalWrites(context);

  function objectKey(key: string): string {
    checkBlobKey(key);
    return root + key;
  }

  async function listKeys(prefix: string, after: string | undefined, limit: number): Promise<KeyPage> {
    const page = await listObjects(context, root + prefix, after === undefined ? after : root + after, limit);
    const keys = page.keys.map((key) => key.slice(root.length));
    const last = keys.at(-1);
    return page.isLast || last === undefined ? { keys } : { keys, cursor: last };
  }

  return {
    async capabilities() {
      const { ifMatch: _, ...capabilities } = await writes.capabilities();
      return capabilities;
    },

    ...createS3DueIndex(context),
    ...createS3Leases(context, (revision) => writes.leaseConditionOf(revision)),

    async leasesSupported() {
      attempts.checkOpen();
      const { conditionalCreate, compareAndSet } = await writes.capabilities();
      return conditionalCreate && compareAndSet;
    },

    put: (key, body, { ifRevision, signal } = {}) =>
      withBody(body, async () => {
        attempts.checkOpen();
        const object = objectKey(key);
        signal?.throwIfAborted();
        return await putObject(context, object, body, () => writes.conditionOf(ifRevision), signal);
      }),

    async get(key, { range, signal } = {}) {
      const object = objectKey(key);
      if (range !== undefined) rangeWithin(range, Number.POSITIVE_INFINITY);
      return readObject(context, object, range, signal);
    },

    async stat(key) {
      return statObject(context, objectKey(key));
    },

    async delete(key) {
      return removeBlob(context, objectKey(key));
    },

    async list(prefix, { cursor, limit = 1000 }: ListOptions = {}) {
      checkListing(prefix, limit);
      return listKeys(prefix, cursor, limit);
    },

    async listRange(range, { cursor, limit = 1000 }: ListOptions = {}) {
      checkKeyRange(range, limit);
      const { after, upTo } = range;
      const page = await listKeys("", cursor ?? after, limit);
      const keys = page.keys.filter((key) => upTo === undefined || key <= upTo);
      return keys.length < page.keys.length ? { keys } : page;
    },

    async close() {
      attempts.close();
      if (settings.client === undefined) client.destroy();
    },
  };
}

/** Creates a client with settings that work with every known service. */
function createS3Client({
  endpoint,
  region = endpoint === undefined ? undefined : "us-east-1",
  credentials,
  forcePathStyle = endpoint !== undefined,
  timeoutMs,
}: S3Settings): S3Client {
  return new S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    forcePathStyle,
    // By default the SDK sends checksums as trailers, which several services reject or store as part of the
    // body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // The store retries itself: it has to track every attempt at a conditional write.
    maxAttempts: 1,
    // Calls report failures; the SDK would also print some of them.
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    requestHandler: {
      connectionTimeout: timeoutMs,
      // The store has its own time limits; this one would abort the response of a slow reader.
      socketTimeout: 0,
      httpAgent: { maxSockets: MAX_SOCKETS },
      httpsAgent: { maxSockets: MAX_SOCKETS },
    },
  });
}

function silent(): void {}
