import contentDisposition from "content-disposition";
import type { Call, ReadyReply } from "../../contracts/call.ts";
import type { ImageFormat, RenditionSpec } from "../../contracts/renderer.ts";
import { connectionRefusal } from "../../http/client.ts";
import { evaluatePreconditions, isConditional } from "../../http/conditional.ts";
import type { LibraryContext } from "../library/library-context.ts";
import { type AddressFormat, addressFormatOf, FORMATS } from "../record/formats.ts";
import { isServable } from "../record/image-links.ts";
import { ID_LENGTH, type ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { expiryOf, stateAt } from "../record/image-state.ts";
import { negotiateFormat } from "../renditions/negotiate-format.ts";
import {
  checkRead,
  chooseRendition,
  type ReadSources,
  requireInTime,
  servedParameters,
} from "../renditions/read-request.ts";
import type { HotBytes } from "../renditions/rendition-bytes.ts";
import { keyFor } from "../renditions/rendition-bytes.ts";
import type { ImageContext } from "./image-context.ts";
import {
  countReadNow,
  countsNow,
  hasBody,
  type RequestParameters,
  requireUtf8Query,
} from "./image-context.ts";
import type { Audience } from "./permissions.ts";

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
  /** Headers of a 200 with all bytes. */
  readonly whole: readonly string[];
  /** Headers of a 304. */
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
  let read = knownRead(current, format, search);
  if (read === undefined) {
    requireUtf8Query(search);
    read = prepare(library, current.record, format, { query: new URLSearchParams(search) });
    if (search.length <= MAX_PREPARED_SEARCH) {
      const reads = prepared.get(current) ?? new Map<string, PreparedRead>();
      if (reads.size >= MAX_PREPARED_PER_IMAGE) reads.clear();
      prepared.set(current, reads.set(`${format.address}.${format.format}?${search}`, read));
    }
  }
  // A cached read is valid, but its signed address may have ended since.
  if (read.untilMs !== null) requireInTime(read.untilMs, library.settings.now());
  return read;
}

/** Like {@link preparedRead}, for a request with a body. */
export function readOfBody(
  library: LibraryContext,
  { record }: CurrentRecord,
  format: ReadFormat,
  search: string,
  parameters: RequestParameters,
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
function knownRead(
  current: CurrentRecord,
  { address, format }: ReadFormat,
  search: string,
): PreparedRead | undefined {
  return prepared.get(current)?.get(`${address}.${format}?${search}`);
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
  const stem = record.name.replace(/\.(?:png|jpe?g|gif|svg|psd|pdf|webp|avif)$/i, "");
  const fileName = `${stem === "" ? "image" : stem}.${format}`;
  // RFC 6266 §4.3: clients decode bytes other than ASCII differently.
  const fallback = fileName.replace(/[^\x20-\x7e]/g, "?");
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
      "Content-Disposition": contentDisposition(fileName, { type: facts.disposition, fallback }),
      ...sunsetHeader(record, untilMs),
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": USER_BYTES_POLICY,
      "Cross-Origin-Resource-Policy": "cross-origin",
    },
  };
}

/** `Cache-Control` of a page. */
export function cachingOf(audience: Audience): Record<string, string> {
  return { "Cache-Control": audience === "public" ? "no-cache" : "private, no-cache" };
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
function secondsLeft({ settings }: ImageContext, record: ImageRecord, { untilMs }: PreparedRead): number {
  const expiresAt = expiryOf(record);
  const endsAt = untilMs === null ? expiresAt : Math.min(expiresAt, untilMs);
  return Math.max(0, Math.floor((endsAt - settings.now()) / 1000));
}

/*
 * The fast path of `GET HEAD {base}/api/images/<id>.<format>`. Its contract:
 *
 * - It answers a read whose bytes are in memory and whose parameters an earlier read has validated, without a promise.
 *   Every other request gets `undefined` and takes the usual path, e.g. ranges, bodies, signed addresses and all refusals.
 * - Its reply has the status, headers and bytes of the usual path (read-image.ts). The tests compare both.
 * - No check of the usual path is left out: host and TLS, the record at its current revision, life, the host's
 *   permission, preconditions, the rate limit.
 * - `undefined` changes nothing that the usual path does again. So the host is asked after all checks that need no
 *   permission, and the rate limit counts last.
 */

const PREFIX = "/api/images/";
const DOT = PREFIX.length + ID_LENGTH;

/** See {@link Service.answerNow}. In front, where the host's middleware has not identified the client, it asks no host. */
export type HotRead = (call: Call, inFront: boolean) => ReadyReply | undefined;

export function createHotRead(context: ImageContext): HotRead {
  const { library, permissions, settings } = context;
  const { guard, records, renditions } = library;
  if (!countsNow(context)) return () => undefined;

  const isReady = ({ record }: CurrentRecord) => stateAt(record, settings.now()).name === "ready";

  const chooseFormat = ({ record }: CurrentRecord, accept: string | undefined) =>
    negotiateFormat(record, accept, (format) => isServable(library.renderer, record, format));

  return (call, inFront) => {
    const { method, path, headers } = call;
    if (method !== "GET" && method !== "HEAD") return undefined;
    if (path.charCodeAt(DOT) !== 0x2e || !path.startsWith(PREFIX)) return undefined;
    const address = addressFormatOf(path.slice(DOT + 1));
    if (address === undefined || headers.range !== undefined || hasBody(call)) return undefined;
    if (!guard.isOpen || connectionRefusal(call, settings) !== null) return undefined;

    const current = records.peek(path.slice(PREFIX.length, DOT));
    if (current === undefined || !isReady(current)) return undefined;
    const format = address === "auto" ? chooseFormat(current, headers.accept) : address;
    const read = knownRead(current, { address, format }, call.search);
    if (read === undefined || read.untilMs !== null) return undefined;
    const hot = renditions.hotBytes(read.key);
    if (hot === undefined) return undefined;
    const validators = { etag: hot.etag, lastModifiedMs: read.lastModifiedMs };
    const precondition = isConditional(headers)
      ? evaluatePreconditions(method, headers, validators, settings.now())
      : "proceed";
    if (precondition === "failed") return undefined;

    let audience: Audience | undefined = "public";
    if (permissions.areAsked) {
      if (inFront) return undefined;
      audience = permissions.permitReadNow(call, current.record);
      // The image may have ended while the host decided.
      if (audience === undefined || !isReady(current)) return undefined;
    }
    if (!countReadNow(context, call)) return undefined;

    const { whole, notModified } = headersOf(context, current, read, hot, audience);
    if (precondition === "not_modified") return { status: 304, headers: notModified };
    if (read.spec !== null) renditions.used(current.record, read.key);
    return method === "HEAD"
      ? { status: 200, headers: whole }
      : { status: 200, headers: whole, body: hot.bytes };
  };
}

/** The headers of a reply, flat. Kept with the read while the image lives longer than `cacheSeconds`. */
function headersOf(
  context: ImageContext,
  current: CurrentRecord,
  read: PreparedRead,
  { bytes, etag }: HotBytes,
  audience: Audience,
): FlatHeaders {
  const isPlain = secondsLeft(context, current.record, read) >= context.settings.cacheSeconds;
  const kept = read.flat?.[audience];
  if (isPlain && kept?.etag === etag) return kept;
  const made = {
    etag,
    whole: Object.entries(wholeHeaders(context, current, read, bytes.length, etag, audience)).flat(),
    notModified: Object.entries({ ...withCaching(context, current, read, audience), ETag: etag }).flat(),
  };
  if (isPlain) read.flat = { ...read.flat, [audience]: made };
  return made;
}
