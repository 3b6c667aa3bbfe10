import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { StoreRole } from "@outrigger/core";
import { ServiceError } from "@outrigger/core";
import { readAll } from "@outrigger/core/storage";
import { type BlobStore, withBody } from "@outrigger/core/stores";
import { fromSource, type Job, SourceError } from "./job.ts";

/** Size and hash of some bytes. */
export interface Digest {
  size: number;
  /** SHA-256, hex. */
  sha256: string;
}

/**
 * The result for a key. `missing`: the source does not have it (any more). `damaged`: it has other bytes than expected, and the
 * target keeps its own. `digest` is that of the bytes at the source; `null`: they were not read.
 */
export interface Copied {
  outcome: "copied" | "unchanged" | "damaged" | "missing";
  digest: Digest | null;
}

export interface CopyRules {
  /** Other bytes are not copied. @default any bytes are copied */
  expected?: Digest | null;
  /** Compares existing bytes instead of their size. @default false */
  verify: boolean;
}

/** Copies an immutable blob, unless the target has it, and reads it back. */
export async function copyBlob(
  job: Job,
  role: Exclude<StoreRole, "records">,
  key: string,
  { expected = null, verify }: CopyRules,
): Promise<Copied> {
  const from = job.from.stores[role];
  const to = job.to.stores[role];
  const isWrong = (digest: Digest) => expected !== null && !isSame(expected, digest);
  const there = await to.stat(key);
  // Otherwise the `get` below tells as much.
  if (there !== null || expected !== null) {
    const here = await fromSource(() => from.stat(key));
    if (here === null) return { outcome: "missing", digest: null };
    const isThere = there?.size === here.size;
    const isCut = expected !== null && here.size !== expected.size;
    if (isThere && !verify && !isCut) return { outcome: "unchanged", digest: null };
    if (isThere || isCut) {
      const digest = await fromSource(() => digestOf(from, key, job));
      if (digest === null) return { outcome: "missing", digest };
      if (isWrong(digest)) return { outcome: "damaged", digest };
      if (isThere && isSame(digest, await digestOf(to, key, job))) return { outcome: "unchanged", digest };
    }
  }
  const blob = await fromSource(() => from.get(key));
  if (blob === null) return { outcome: "missing", digest: null };
  const digest = await send(job, to, key, blob.body);
  const hasArrived = isSame(digest, await digestOf(to, key, job));
  // If it stayed, the next run would accept it by its size.
  if (!hasArrived) await to.delete(key);
  requireArrived(hasArrived);
  if (!isWrong(digest)) return { outcome: "copied", digest };
  await to.delete(key);
  return { outcome: "damaged", digest };
}

/** Stores a body, and returns the digest of what was sent. */
async function send(job: Job, to: BlobStore, key: string, body: Buffer | Readable): Promise<Digest> {
  const hash = createHash("sha256");
  let size = 0;
  let sourceFailure: SourceError | null = null;
  const pass = (chunk: Buffer) => {
    hash.update(chunk);
    size += chunk.length;
    job.progress.bytes += chunk.length;
    job.reportProgress();
    return chunk;
  };
  async function* passing(stream: Readable): AsyncGenerator<Buffer> {
    let isAtTarget = false;
    try {
      for await (const chunk of stream) {
        isAtTarget = true;
        yield pass(chunk as Buffer); // Streams of a store yield Buffers.
        isAtTarget = false;
      }
    } catch (error) {
      // An error of the target arrives at the `yield`.
      if (!isAtTarget) sourceFailure = new SourceError(error);
      throw error;
    }
  }
  const sent = Buffer.isBuffer(body) ? pass(body) : Readable.from(passing(body), { objectMode: false });
  try {
    // The target may reject before it reads the source.
    await withBody(body, () => to.put(key, sent));
  } catch (error) {
    throw sourceFailure ?? error;
  }
  return { size, sha256: hash.digest("hex") };
}

/** The digest of a stored blob; `null`: no such key. */
export async function digestOf(
  store: BlobStore,
  key: string,
  job: Pick<Job, "paced">,
): Promise<Digest | null> {
  const blob = await store.get(key);
  if (blob === null) return null;
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of Buffer.isBuffer(blob.body) ? [blob.body] : blob.body) {
    hash.update(chunk as Buffer); // Streams of a store yield Buffers.
    size += (chunk as Buffer).length;
    await job.paced((chunk as Buffer).length);
  }
  return { size, sha256: hash.digest("hex") };
}

export function isSame(one: Digest, other: Digest | null): boolean {
  return other !== null && one.size === other.size && one.sha256 === other.sha256;
}

/** Stores a small blob in the records' store of the target, and checks that it arrived. */
export async function putSmall(job: Job, key: string, bytes: Buffer): Promise<void> {
  const { records } = job.to.stores;
  await records.put(key, bytes);
  job.progress.bytes += bytes.length;
  job.reportProgress();
  requireArrived((await readSmall(records, key))?.equals(bytes) === true);
}

/** A small blob, read whole. */
export interface SmallBlob {
  bytes: Buffer;
  revision: string;
}

/** @returns `null` if there is none. */
export async function readBlob(store: BlobStore, key: string): Promise<SmallBlob | null> {
  const blob = await store.get(key);
  return blob === null ? null : { bytes: await readAll(blob.body), revision: blob.revision };
}

/** The bytes of a small blob; `null`: there is none. */
export async function readSmall(store: BlobStore, key: string): Promise<Buffer | null> {
  return (await readBlob(store, key))?.bytes ?? null;
}

function requireArrived(hasArrived: boolean): void {
  if (hasArrived) return;
  throw new ServiceError("store_unavailable", "the content that the target returns is not what was sent");
}
