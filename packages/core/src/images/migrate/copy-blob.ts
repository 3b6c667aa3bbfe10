import type { Readable } from "node:stream";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { type Digest, digestOf, isSame, passBy } from "./blob-digest.ts";
import { fromSource, type MigrationContext, SourceError } from "./migration-context.ts";

/**
 * The result for a key. `missing`: the source does not have it (any more). `damaged`: the target keeps its earlier bytes.
 */
export type Copied =
  | { outcome: "copied" | "unchanged"; digest: Digest | null }
  | { outcome: "damaged"; digest: Digest }
  | { outcome: "missing" };

/**
 * Copies an immutable blob, unless the target has one of the same size (with `verify`: of the same content).
 * @param expected Expected digest; a blob with another digest is `damaged` and not copied. `null`: any bytes are copied.
 */
export async function copyBlob(
  context: MigrationContext,
  role: Exclude<StoreRole, "records">,
  key: string,
  expected: Digest | null = null,
): Promise<Copied> {
  const { verify, isFresh } = context;
  const from = context.from[role];
  const to = context.to[role];
  const isWrong = (digest: Digest) => expected !== null && !isSame(expected, digest);
  const there = isFresh ? null : await to.stat(key);
  // Otherwise the `get` below tells as much.
  if (there !== null || expected !== null) {
    const here = await fromSource(() => from.stat(key));
    if (here === null) return { outcome: "missing" };
    const isThere = there?.size === here.size;
    const isCut = expected !== null && here.size !== expected.size;
    if (isThere && !verify && !isCut) return { outcome: "unchanged", digest: null };
    if (isThere || isCut) {
      const digest = await fromSource(() => digestOf(from, key));
      if (digest === null) return { outcome: "missing" };
      if (isWrong(digest)) return { outcome: "damaged", digest };
      if (isThere && isSame(digest, await digestOf(to, key))) return { outcome: "unchanged", digest };
    }
  }
  const blob = await fromSource(() => from.get(key));
  if (blob === null) return { outcome: "missing" };
  const digest = await send(context, to, key, blob.body);
  const hasArrived = isSame(digest, await digestOf(to, key));
  // If it stayed, the next run would accept it by its size.
  if (!hasArrived) await to.delete(key);
  requireArrived(hasArrived);
  if (!isWrong(digest)) return { outcome: "copied", digest };
  await to.delete(key);
  return { outcome: "damaged", digest };
}

/** Stores a body and returns its digest. */
async function send(
  { progress, tell }: MigrationContext,
  to: BlobStore,
  key: string,
  body: Buffer | Readable,
): Promise<Digest> {
  const passing = passBy(body, (count) => {
    progress.bytes += count;
    tell();
  });
  try {
    await to.put(key, passing.body);
  } catch (error) {
    const failure = passing.failure();
    throw failure === null ? error : new SourceError(failure);
  }
  return passing.digest();
}

/** Stores a small blob, and checks that it arrived. */
export async function putSmall(context: MigrationContext, key: string, bytes: Buffer): Promise<void> {
  const { progress, tell, to } = context;
  await to.records.put(key, bytes);
  progress.bytes += bytes.length;
  tell();
  requireArrived((await readSmall(to.records, key))?.equals(bytes) === true);
}

/** Reads a small blob whole; `null`: there is none. */
export async function readSmall(store: BlobStore, key: string): Promise<Buffer | null> {
  const blob = await store.get(key);
  return blob === null ? null : await readAll(blob.body);
}

function requireArrived(hasArrived: boolean): void {
  if (hasArrived) return;
  throw new ServiceError("store_unavailable", "the content that the target returns is not what was sent");
}
