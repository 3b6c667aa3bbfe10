import type { RenditionSpec } from "../../contracts/renderer.ts";
import { readAll } from "../../stores/read-all.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import type { StorageRoles } from "../record/storage-roles.ts";
import {
  fromMemory,
  fromStore,
  type HotBytes,
  requireOpenSize,
  requireSize,
  type ServableBytes,
  tagOf,
} from "./servable-bytes.ts";
import { specName } from "./spec-name.ts";
import { readStamp, STAMP_BYTES, type Stamp, stampIn } from "./stored-rendition.ts";

/** Bodies up to this size are kept in memory and sent in one piece. */
export const MAX_MEMORY_ENTRY_BYTES = 2 * 1024 * 1024;

/** Bytes found in a store. */
export interface FoundBytes {
  servable: ServableBytes;
  /** The whole body if it fits in memory, else `null`. */
  hot: HotBytes | null;
  /** Stamp of a rendition; `null` for an original. */
  stamp: Stamp | null;
}

/** Key of the original (`null`) or of a rendition. */
export function keyFor(id: string, spec: RenditionSpec | null): string {
  return spec === null ? keyOf.original(id) : keyOf.rendition(id, specName(spec));
}

/** Key of an intermediate: stored beside the renditions, one per page. */
export function intermediateKey(id: string, { page = 1 }: RenditionSpec): string {
  return keyOf.rendition(id, `intermediate-p${page}`);
}

/** Whether a key belongs to an intermediate. */
export function isIntermediate(key: string): boolean {
  return key.includes("/renditions/intermediate-");
}

/** The original from its store. Rejects with `damaged` if its size differs from its record. */
export async function findOriginal(
  { originals }: Pick<StorageRoles, "originals">,
  record: ImageRecord,
  signal: AbortSignal,
): Promise<FoundBytes | null> {
  const key = keyFor(record.id, null);
  const etag = tagOf(record.id, null);
  if (record.size > MAX_MEMORY_ENTRY_BYTES) {
    const info = await originals.stat(key);
    if (info === null) return null;
    requireSize(key, info.size, record.size);
    const stored = { store: originals, key, etag, skip: 0, size: info.size, revision: null };
    return { servable: fromStore(stored, signal), hot: null, stamp: null };
  }
  const blob = await originals.get(key, { signal });
  if (blob === null) return null;
  requireOpenSize(key, blob, record.size);
  const hot = { bytes: owned(await readAll(blob.body)), etag };
  return { servable: fromMemory(hot), hot, stamp: null };
}

/** A rendition from its store. `null` also for stored bytes without a valid stamp. */
export async function findRendition(
  { renditions }: Pick<StorageRoles, "renditions">,
  id: string,
  spec: RenditionSpec,
  signal: AbortSignal,
): Promise<FoundBytes | null> {
  const key = keyFor(id, spec);
  const blob = await renditions.get(key, { signal });
  if (blob === null) return null;
  const whole = blob.size <= MAX_MEMORY_ENTRY_BYTES ? owned(await readAll(blob.body)) : null;
  const stamp = whole === null ? await readStamp(blob) : stampIn(whole);
  if (stamp === null) return null;
  const etag = tagOf(id, spec, stamp.build);
  if (whole !== null) {
    const hot = { bytes: whole.subarray(STAMP_BYTES), etag };
    return { servable: fromMemory(hot), hot, stamp };
  }
  const { size, revision } = blob;
  const stored = { store: renditions, key, etag, skip: STAMP_BYTES, size: size - STAMP_BYTES, revision };
  return { servable: fromStore(stored, signal), hot: null, stamp };
}

/** Copies bytes that keep more than twice their length in memory, as a view of a connection's receive buffer does. */
function owned(bytes: Buffer): Buffer {
  const { byteLength } = bytes.buffer;
  // Node takes short buffers from a pool, where a copy would be again.
  return byteLength > Buffer.poolSize && byteLength > 2 * bytes.length ? Buffer.from(bytes) : bytes;
}
