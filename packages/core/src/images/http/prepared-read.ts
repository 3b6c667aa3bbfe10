import contentDisposition from "content-disposition";
import type { ImageFormat, RenditionSpec } from "../../contracts/renderer.ts";
import type { LibraryContext } from "../library/library-context.ts";
import { type AddressFormat, FORMATS } from "../record/formats.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { expiryOf } from "../record/image-state.ts";
import { checkRead, type ReadSources, requireInTime, servedParameters } from "../renditions/read-request.ts";
import { keyFor } from "../renditions/rendition-names.ts";
import { chooseRendition } from "../renditions/rendition-spec.ts";
import type { ImageContext } from "./image-context.ts";
import type { Audience } from "./permissions.ts";
import { type Parameters, requireUtf8Query } from "./read-body.ts";

/** The format of a read. */
export interface ReadFormat {
  address: AddressFormat;
  /** The effective one: `address`, or its choice for the client. */
  format: ImageFormat;
}

/** A read with validated parameters, cached with its record. */
export interface PreparedRead {
  spec: RenditionSpec | null;
  /** The key of the bytes in memory. */
  key: string;
  lastModifiedMs: number;
  /** End of the signed address in Unix milliseconds; later reads are refused. `null`: no end. */
  untilMs: number | null;
  /** All headers except ETag, Content-Length and Cache-Control. */
  headers: Readonly<Record<string, string>>;
  /** The headers of replies while the image lives longer than `cacheSeconds`. Filled by the first one. */
  flat?: Partial<Record<Audience, FlatHeaders>>;
}

/** Header names and values in turn, for the bytes with this tag. */
export interface FlatHeaders {
  readonly etag: string;
  /** Of a 200 with all bytes. */
  readonly whole: readonly string[];
  /** Of a 304. */
  readonly notModified: readonly string[];
}

const MAX_PREPARED_PER_IMAGE = 8;
/** Longer queries are not cached: no real client sends them, and they must not fill memory. */
const MAX_PREPARED_SEARCH = 128;

/** Prepared reads by record at one revision. A new revision is another object. */
const prepared = new WeakMap<CurrentRecord, Map<string, PreparedRead>>();

/** Uploaded content must not run or load anything, wherever it is opened. */
const USER_BYTES_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/** The read for a query. Rejects like {@link checkRead}, and with `forbidden` after the end of a signed address. */
export function preparedRead(
  library: LibraryContext,
  current: CurrentRecord,
  format: ReadFormat,
  search: string,
): PreparedRead {
  const read = knownRead(current, format, search) ?? newRead(library, current, format, search);
  // The cached read is valid, but its signed address may have ended since.
  if (read.untilMs !== null) requireInTime(read.untilMs, library.settings.now());
  return read;
}

/** Like {@link preparedRead}, for a request with a body. */
export function readOfBody(
  library: LibraryContext,
  { record }: CurrentRecord,
  format: ReadFormat,
  search: string,
  parameters: Parameters,
): PreparedRead {
  const body = {
    has: (name: string) => parameters.sourceOf(name) !== "query",
    get: (name: string) => parameters.get(name),
  };
  const read = prepare(library, record, format, { query: new URLSearchParams(search), body });
  requireInTime(read.untilMs, library.settings.now());
  return read;
}

/** The read for a query which an earlier request has validated. */
export function knownRead(
  current: CurrentRecord,
  format: ReadFormat,
  search: string,
): PreparedRead | undefined {
  return prepared.get(current)?.get(nameOf(format, search));
}

function nameOf({ address, format }: ReadFormat, search: string): string {
  return `${address}.${format}?${search}`;
}

function newRead(
  library: LibraryContext,
  current: CurrentRecord,
  format: ReadFormat,
  search: string,
): PreparedRead {
  requireUtf8Query(search);
  const read = prepare(library, current.record, format, { query: new URLSearchParams(search) });
  if (search.length > MAX_PREPARED_SEARCH) return read;
  const reads = prepared.get(current) ?? new Map<string, PreparedRead>();
  if (reads.size >= MAX_PREPARED_PER_IMAGE) reads.clear();
  reads.set(nameOf(format, search), read);
  prepared.set(current, reads);
  return read;
}

function prepare(
  { renderer, reads, settings }: LibraryContext,
  record: ImageRecord,
  { address, format }: ReadFormat,
  sources: ReadSources,
): PreparedRead {
  const request = checkRead(record.id, address, sources, reads);
  const { untilMs } = request;
  const parameters = servedParameters(renderer, record, format, request, reads.sizes);
  const facts = FORMATS[format];
  // An edit of the focus changes the bytes under the same address.
  const followsFocus = parameters.fit === "cover" && parameters.at === undefined;
  const lastModifiedMs = followsFocus ? record.updatedAt : record.createdAt;
  const spec = chooseRendition(record, format, parameters, (...asked) => renderer.measure(...asked));
  return {
    spec,
    key: keyFor(record.id, spec),
    lastModifiedMs,
    untilMs,
    headers: {
      "Content-Type": facts.type,
      ...(address === "auto" ? { Vary: "Accept" } : {}),
      ...(settings.cacheTag === null ? {} : { [settings.cacheTag]: record.id }),
      "Last-Modified": new Date(lastModifiedMs).toUTCString(),
      "Accept-Ranges": "bytes",
      "Content-Disposition": disposition(fileName(record, format), facts.disposition),
      ...sunsetHeader(record, untilMs),
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": USER_BYTES_POLICY,
      "Cross-Origin-Resource-Policy": "cross-origin",
    },
  };
}

/** The image's name, with the suffix of the served format. */
function fileName({ name }: ImageRecord, format: ImageFormat): string {
  const stem = name.replace(/\.(?:png|jpe?g|gif|svg|psd|pdf|webp|avif)$/i, "");
  return `${stem === "" ? "image" : stem}.${format}`;
}

/** `Content-Disposition` with an ASCII fallback (RFC 6266 §4.3): clients decode other bytes differently. */
function disposition(name: string, type: "inline" | "attachment"): string {
  return contentDisposition(name, { type, fallback: name.replace(/[^\x20-\x7e]/g, "?") });
}

/** The header that names the end of an image, or of its signed address if that is earlier. None if there is no end. */
export function sunsetHeader(record: ImageRecord, untilMs: number | null = null): { Sunset?: string } {
  const endsAt = Math.min(expiryOf(record), untilMs ?? Number.POSITIVE_INFINITY);
  return endsAt === Number.POSITIVE_INFINITY ? {} : { Sunset: new Date(endsAt).toUTCString() };
}

/** Cacheability of a reply with bytes. */
export type Caching = Audience | "revalidate" | "revalidate privately" | "never";

/** Headers of a 200 with `size` bytes. */
export function wholeHeaders(
  context: ImageContext,
  current: CurrentRecord,
  read: PreparedRead,
  size: number,
  etag: string,
  caching: Caching,
): Readonly<Record<string, string>> {
  return {
    ...withCaching(context, current, read, caching),
    ETag: etag,
    "Content-Length": String(size),
  };
}

/** Headers of a reply without its entity tag and length. */
export function withCaching(
  context: ImageContext,
  { record }: CurrentRecord,
  read: PreparedRead,
  caching: Caching,
): Record<string, string> {
  if (caching === "never") return { ...read.headers, "Cache-Control": "no-store" };
  if (caching === "revalidate") return { ...read.headers, "Cache-Control": "no-cache", Vary: "Accept" };
  if (caching === "revalidate privately") {
    return { ...read.headers, "Cache-Control": "private, no-cache", Vary: "Accept" };
  }
  const maxAge = Math.min(context.settings.cacheSeconds, secondsLeft(context, record, read));
  return {
    ...read.headers,
    "Cache-Control": `${caching}, max-age=${maxAge}, must-revalidate, no-transform`,
  };
}

/** Whole seconds until the image or its signed address expires; `Infinity`: never. A cache must not keep the reply longer. */
export function secondsLeft(
  { settings }: ImageContext,
  record: ImageRecord,
  { untilMs }: PreparedRead,
): number {
  const expiresAt = expiryOf(record);
  const endsAt = untilMs === null ? expiresAt : Math.min(expiresAt, untilMs);
  return Math.max(0, Math.floor((endsAt - settings.now()) / 1000));
}
