import type { StorageRoles } from "../../contracts/blob-store.ts";
import { type BlobStore, type ByteRange, isLocalStore, type StoredBlob } from "../../contracts/blob-store.ts";
import type { DrawnPicture, RenderSource, RenditionSpec } from "../../contracts/renderer.ts";
import { onCode, ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/blob-body.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { keyOf } from "../record/image-record.ts";

/** A rendition of an image, and the key of its bytes. */
export interface RenditionTarget {
  record: ImageRecord;
  spec: RenditionSpec;
  key: string;
}

/** A rendition of an image, or its original for `null`, and the key of its bytes; see {@link keyFor}. */
export type StoredTarget = Omit<RenditionTarget, "spec"> & { spec: RenditionSpec | null };

/** Bytes in memory, and their entity tag, quotes included. */
export interface HotBytes {
  bytes: Buffer;
  etag: string;
}

/** Bytes ready to be sent, in whole or in part. */
export interface ServableBytes {
  size: number;
  /** Entity tag, quotes included. */
  etag: string;
  /** Opens all bytes, or a range. Rejects with {@link BytesReplaced} if they were replaced or removed meanwhile. */
  open(range?: ByteRange): Promise<StoredBlob["body"]>;
}

/** The bytes of a rendition were removed or replaced after they were found. Find them again. */
export class BytesReplaced extends Error {}

/** Servable bytes from memory. */
export function fromMemory({ bytes, etag }: HotBytes): ServableBytes {
  return {
    size: bytes.length,
    etag,
    open: async (range) => (range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)),
  };
}

/** Bytes in a store. */
export interface StoredBytes {
  store: BlobStore;
  key: string;
  etag: string;
  /** Length of the header before the served bytes. */
  skip: number;
  /** Length of the served bytes. */
  size: number;
  /** Revision of the blob; `null`: it is never replaced. */
  revision: string | null;
}

/** Servable bytes from a store, opened on demand. */
export function fromStore(
  { store, key, etag, skip, size, revision }: StoredBytes,
  signal: AbortSignal,
): ServableBytes {
  return {
    size,
    etag,
    async open({ start, end } = { start: 0, end: size - 1 }) {
      const isWhole = skip === 0 && start === 0 && end === size - 1;
      const range = { start: start + skip, end: end + skip };
      const blob = await store.get(key, isWhole ? { signal } : { range, signal });
      if (blob === null) throw new BytesReplaced(`The bytes of ${key} are gone`);
      if (revision !== null && blob.revision !== revision) {
        if (!Buffer.isBuffer(blob.body)) blob.body.destroy();
        throw new BytesReplaced(`The bytes of ${key} were replaced`);
      }
      requireOpenSize(key, blob, size + skip);
      return blob.body;
    },
  };
}

/** Throws `damaged` if the size of a blob differs from its record: its bytes would be served incomplete. */
export function requireSize(key: string, size: number, expected: number): void {
  if (size === expected) return;
  const [id = ""] = key.split("/");
  const what = `The stored bytes of image ${id} (key "${key}")`;
  throw new ServiceError("damaged", `${what} are damaged: found ${size} bytes, expected ${expected}`);
}

/** Like {@link requireSize}, for an open blob. Closes it before it throws. */
export function requireOpenSize(key: string, { size, body }: StoredBlob, expected: number): void {
  try {
    requireSize(key, size, expected);
  } catch (error) {
    if (!Buffer.isBuffer(body)) body.destroy();
    throw error;
  }
}

/** Length of the header of a stored rendition in bytes. */
export const STAMP_BYTES = 96;

const STAMP = /^outrigger rendition 1 build=([a-z0-9.]{1,24}) *\n$/;

/** The blob of a rendition: a header with the build of the renderer that made it, and the bytes. */
export function stamped(build: string, bytes: Buffer): Buffer {
  const line = `outrigger rendition 1 build=${build}`;
  return Buffer.concat([Buffer.from(`${line.padEnd(STAMP_BYTES - 1)}\n`, "latin1"), bytes]);
}

/** The build in the header of a blob; `null`: the blob is not a rendition. */
function buildIn(start: Buffer): string | null {
  return STAMP.exec(start.toString("latin1", 0, STAMP_BYTES))?.[1] ?? null;
}

/** Reads the build of an open blob and closes the blob. `null` as in {@link buildIn}. */
async function readBuild({ body }: StoredBlob): Promise<string | null> {
  if (Buffer.isBuffer(body)) return buildIn(body);
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop destroys the stream.
  for await (const chunk of body) {
    chunks.push(chunk as Buffer); // Streams of a store yield Buffers.
    length += (chunk as Buffer).length;
    if (length >= STAMP_BYTES) break;
  }
  return buildIn(Buffer.concat(chunks));
}

/** The build of the rendition stored under a key; `null`: none is stored. */
export async function storedBuild(store: BlobStore, key: string): Promise<string | null> {
  const getting = store.get(key, { range: { start: 0, end: STAMP_BYTES - 1 } });
  const reading = getting.then((blob) => (blob === null ? null : readBuild(blob)));
  // An empty blob, left by another program, has no such range. A store that does not work has no rendition.
  return reading.catch(onCode("bad_request", null)).catch(onCode("store_unavailable", null));
}

/** Bodies up to this size are kept in memory and sent in one piece. */
export const MAX_MEMORY_ENTRY_BYTES = 2 * 1024 * 1024;

/** Bytes found in a store. */
export interface FoundBlob {
  servable: ServableBytes;
  /** The whole body if it fits in memory, else `null`. */
  hot: HotBytes | null;
}

/** The original from its store. Rejects with `damaged` if its size differs from its record. */
export async function findOriginal(
  { originals }: Pick<StorageRoles, "originals">,
  record: ImageRecord,
  signal: AbortSignal,
): Promise<FoundBlob | null> {
  const key = keyFor(record.id, null);
  const etag = tagOf(record.id, null);
  if (record.size > MAX_MEMORY_ENTRY_BYTES) {
    const info = await originals.stat(key);
    if (info === null) return null;
    requireSize(key, info.size, record.size);
    const stored = { store: originals, key, etag, skip: 0, size: info.size, revision: null };
    return { servable: fromStore(stored, signal), hot: null };
  }
  const blob = await originals.get(key, { signal });
  if (blob === null) return null;
  requireOpenSize(key, blob, record.size);
  const hot = { bytes: owned(await readAll(blob.body)), etag };
  return { servable: fromMemory(hot), hot };
}

/** A rendition from its store. `null` also for stored bytes without a valid header. */
export async function findRendition(
  { renditions }: Pick<StorageRoles, "renditions">,
  { record, spec, key }: RenditionTarget,
  signal: AbortSignal,
): Promise<FoundBlob | null> {
  const blob = await renditions.get(key, { signal });
  if (blob === null) return null;
  const whole = blob.size <= MAX_MEMORY_ENTRY_BYTES ? owned(await readAll(blob.body)) : null;
  const build = whole === null ? await readBuild(blob) : buildIn(whole);
  if (build === null) return null;
  const etag = tagOf(record.id, spec, build);
  if (whole !== null) {
    const hot = { bytes: whole.subarray(STAMP_BYTES), etag };
    return { servable: fromMemory(hot), hot };
  }
  const { size, revision } = blob;
  const stored = { store: renditions, key, etag, skip: STAMP_BYTES, size: size - STAMP_BYTES, revision };
  return { servable: fromStore(stored, signal), hot: null };
}

/** Copies bytes that keep more than twice their length in memory, as a view of a connection's receive buffer does. */
function owned(bytes: Buffer): Buffer {
  const { byteLength } = bytes.buffer;
  // Node takes short buffers from a pool, where a copy would be again.
  return byteLength > Buffer.poolSize && byteLength > 2 * bytes.length ? Buffer.from(bytes) : bytes;
}

/** A stored file as a renderer reads it, by path if the store can, else as bytes; and its size in bytes. `null`: no such key. */
export async function openSource(
  store: BlobStore,
  key: string,
): Promise<{ source: RenderSource; size: number } | null> {
  if (isLocalStore(store)) {
    const info = await store.stat(key);
    const path = await store.localPath(key);
    return info === null || path === null ? null : { source: { path }, size: info.size };
  }
  const blob = await store.get(key);
  return blob === null ? null : { source: { bytes: await readAll(blob.body) }, size: blob.size };
}

/** A short unique name of a spec, safe in a store's key and in an entity tag. */
export function specName(spec: RenditionSpec): string {
  const { format, quality, page, width, height, maxWidth, maxHeight, drawn, fit, at, background, edits } =
    spec;
  const parts: string[] = [format];
  if (quality !== undefined) parts.push(quality);
  if (width !== undefined && height !== undefined) {
    parts.push(`${width}x${height}`);
    if (drawn !== undefined) parts.push(drawnName(drawn));
  } else if (maxWidth !== undefined || maxHeight !== undefined) {
    parts.push(`in${maxWidth ?? ""}x${maxHeight ?? ""}`);
    if (fit !== undefined) parts.push(fit);
    if (at !== undefined) parts.push(typeof at === "string" ? at : pointName(at));
  }
  if (background !== undefined) parts.push(`bg${background}`);
  if (page !== undefined) parts.push(`p${page}`);
  if (edits !== undefined) parts.push(`e${edits.digest}`);
  return parts.join("-");
}

/** As in `of300x200l22t0`: a picture drawn at 300 × 200 from 22 pixels on; `m` marks a negative offset. */
function drawnName({ width, height, ...place }: DrawnPicture): string {
  const offset = (pixels: number) => String(pixels).replace("-", "m");
  return `of${width}x${height}${"at" in place ? place.at : `l${offset(place.left)}t${offset(place.top)}`}`;
}

/** Points have four decimal digits. */
function pointName([x, y]: readonly [number, number]): string {
  return `x${Math.round(x * 10_000)}y${Math.round(y * 10_000)}`;
}

/** Key of the original (`null`) or of a rendition. */
export function keyFor(id: string, spec: RenditionSpec | null): string {
  return spec === null ? keyOf.original(id) : keyOf.rendition(id, specName(spec));
}

/** The entity tag: the key of a rendition and the build that made its bytes. Different bytes never share a tag. */
export function tagOf(id: string, spec: RenditionSpec | null, build = ""): string {
  return spec === null ? `"${id}.original"` : `"${id}.${specName(spec)}.${build}"`;
}
