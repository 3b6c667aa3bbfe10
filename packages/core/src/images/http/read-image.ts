import { relative } from "node:path";
import { isLocalStore } from "../../contracts/blob-store.ts";
import type { Call, Reply } from "../../contracts/call.ts";
import type { ImageFormat } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { clientKey } from "../../http/client.ts";
import { chooseRange, evaluatePreconditions, ifRangeHolds, isConditional } from "../../http/conditional.ts";
import { HttpProblem } from "../../http/problem.ts";
import { type FoundBytes, findReadyImage, readRendition, requireAlive } from "../library/find-image.ts";
import type { LibraryContext } from "../library/library-context.ts";
import { type AddressFormat, addressFormatOf } from "../record/formats.ts";
import { isServable } from "../record/image-links.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { negotiateFormat } from "../renditions/negotiate-format.ts";
import { isSignedRead, type ReadRules } from "../renditions/read-request.ts";
import {
  BytesReplaced,
  keyFor,
  MAX_MEMORY_ENTRY_BYTES,
  type StoredTarget,
  specName,
} from "../renditions/rendition-bytes.ts";
import type { Renditions } from "../renditions/renditions.ts";
import { findForRead, hasBody, type ImageContext, requestParameters, type Viewing } from "./image-context.ts";
import type { Audience } from "./permissions.ts";
import {
  type Caching,
  type PreparedRead,
  preparedRead,
  readOfBody,
  wholeHeaders,
  withCaching,
} from "./prepared-read.ts";

/** `GET HEAD {base}/api/images/<id>.<format>`, and `<id>.auto`. */
export async function readImage(
  context: ImageContext,
  call: Call,
  id: string,
  address: AddressFormat,
): Promise<Reply> {
  // Read the body first: a client may take long to send it, and the image may end meanwhile.
  const parameters = hasBody(call) ? await requestParameters(call, context.settings) : null;
  const { current, audience } = await findForRead(context, call, id);
  const { library } = context;
  const canServe = (format: ImageFormat) => isServable(library.renderer, current.record, format);
  const format =
    address === "auto" ? negotiateFormat(current.record, call.headers.accept, canServe) : address;
  requireServable(library, current, format);
  if (parameters !== null) {
    const read = readOfBody(library, current, { address, format }, call.search, parameters);
    return bytesReply(context, call, current, read, parameters.hasBody ? "never" : audience);
  }
  const read = preparedRead(library, current, { address, format }, call.search);
  return bytesReply(context, call, current, read, audience);
}

function requireServable({ renderer }: LibraryContext, { record }: CurrentRecord, format: ImageFormat): void {
  if (isServable(renderer, record, format)) return;
  throw new ServiceError("not_implemented", `No renderer for ${record.type} as ${format} is installed`);
}

/** `GET HEAD {base}/<id>/view?download=…`: a file that browsers save. @param search Its parameters. */
export async function readDownload(
  context: ImageContext,
  call: Call,
  { current, audience }: Viewing,
  format: ImageFormat,
  search: string,
): Promise<Reply> {
  requireServable(context.library, current, format);
  const read = preparedRead(context.library, current, { address: format, format }, search);
  const { "Content-Disposition": name = "" } = read.headers;
  const headers = { ...read.headers, "Content-Disposition": name.replace(/^inline/, "attachment") };
  return bytesReply(context, call, current, { ...read, headers }, audience);
}

/** `GET HEAD {base}/<id>` for clients that do not prefer HTML: the unchanged original. */
export function readOriginal(
  context: ImageContext,
  call: Call,
  current: CurrentRecord,
  format: ImageFormat,
  audience: Audience,
): Promise<Reply> {
  const caching = audience === "public" ? "revalidate" : "revalidate privately";
  const read = preparedRead(context.library, current, { address: format, format }, "");
  return bytesReply(context, call, current, read, caching);
}

async function bytesReply(
  context: ImageContext,
  call: Call,
  current: CurrentRecord,
  read: PreparedRead,
  caching: Caching,
): Promise<Reply> {
  const { headers, method } = call;
  const { renditions } = context.library;
  const target = { record: current.record, spec: read.spec, key: read.key };
  if (isConditional(headers)) {
    const etag = await comparedTag(renditions, call, target);
    const validators = { etag, lastModifiedMs: read.lastModifiedMs };
    const precondition = evaluatePreconditions(method, headers, validators, context.settings.now());
    if (precondition === "failed") {
      throw new HttpProblem({
        status: 412,
        detail: "The picture does not match the conditions of the request.",
      });
    }
    if (precondition === "not_modified") {
      return { status: 304, headers: { ...withCaching(context, current, read, caching), ETag: etag } };
    }
  }
  const hot = headers.range === undefined ? renditions.peek(target) : undefined;
  if (hot !== undefined) {
    const whole = wholeHeaders(context, current, read, hot.bytes.length, hot.etag, caching);
    return method === "HEAD"
      ? { status: 200, headers: whole }
      : { status: 200, headers: whole, body: hot.bytes };
  }
  if (method === "HEAD" && read.spec !== null) return headReply(context, call, target, read, caching);
  const reader = { client: clientKey(call.clientIp), signal: call.signal };
  return readRendition(context.library, target, reader, (found) =>
    partReply(context, call, read, found, caching),
  );
}

/**
 * The entity tag to compare with the conditions of the request. Asks the store only if the stored rendition can
 * decide: the tag that this build would give always matches, and a tag of another picture never does.
 */
async function comparedTag(renditions: Renditions, call: Call, target: StoredTarget): Promise<string> {
  const { record, spec } = target;
  const expected = renditions.expectedEtag(target);
  const { "if-match": match, "if-none-match": noneMatch } = call.headers;
  const named = `${match ?? ""} ${noneMatch ?? ""}`;
  if (spec === null || named.includes(expected)) return expected;
  const isDated = match === undefined && noneMatch === undefined;
  return isDated || named.includes(`"${record.id}.${specName(spec)}.`)
    ? renditions.etag(target, call.signal)
    : expected;
}

/**
 * Replies to HEAD without rendering. A rendition that does not exist has no length and no entity tag (RFC 9110
 * §9.3.2).
 */
async function headReply(
  context: ImageContext,
  call: Call,
  target: StoredTarget,
  read: PreparedRead,
  caching: Caching,
): Promise<Reply> {
  const bytes = await context.library.renditions.find(target, call.signal);
  const now = await findReadyImage(context.library, target.record.id, call.signal);
  if (bytes === null) return { status: 200, headers: withCaching(context, now, read, caching) };
  return { status: 200, headers: wholeHeaders(context, now, read, bytes.size, bytes.etag, caching) };
}

async function partReply(
  context: ImageContext,
  call: Call,
  read: PreparedRead,
  { current, size, etag, open }: FoundBytes,
  caching: Caching,
): Promise<Reply> {
  const validators = { etag, lastModifiedMs: read.lastModifiedMs };
  // Ranges are defined for GET only (RFC 9110 §14.2).
  const mayBePart = call.method === "GET" && ifRangeHolds(call.headers, validators);
  const range = mayBePart ? chooseRange(call.headers.range, size) : "whole";
  if (range === "unsatisfiable") {
    throw new HttpProblem({
      status: 416,
      detail: `The picture has ${size} bytes.`,
      headers: { "Content-Range": `bytes */${size}` },
    });
  }
  const headers = wholeHeaders(context, current, read, size, etag, caching);
  if (call.method === "HEAD") return { status: 200, headers };
  const file = await fileHeader(context, call, current, read);
  if (file !== null) {
    const { "Accept-Ranges": accepts = "", ...kept } = headers;
    // nginx adds its own to whole replies, and to no others.
    const isDoubled = range === "whole" && "X-Accel-Redirect" in file;
    const ranges = isDoubled ? {} : { "Accept-Ranges": accepts };
    // With an empty body: without one, Koa removes the Content-Type.
    return { status: 200, headers: { ...kept, ...ranges, ...file, "Content-Length": "0" }, body: "" };
  }
  if (range === "whole") return { status: 200, headers, body: await open() };
  const body = await open(range);
  return {
    status: 206,
    headers: {
      ...headers,
      "Content-Length": String(range.end - range.start + 1),
      "Content-Range": `bytes ${range.start}-${range.end}/${size}`,
    },
    body,
  };
}

/**
 * The header by which a proxy sends an original, or the range of it that the request names; `null`: this process sends it.
 * Rejects if the image has ended meanwhile.
 *
 * Not for bytes that were read into memory, for renditions, whose files have a header of their own, and for requests with
 * a condition: the proxy would compare it again, with the date of the file.
 */
export async function fileHeader(
  { library, settings: { sendfile } }: ImageContext,
  { headers }: Call,
  current: CurrentRecord,
  { spec }: PreparedRead,
): Promise<Record<string, string> | null> {
  const { originals } = library;
  const { id, size } = current.record;
  if (sendfile === null || !isLocalStore(originals)) return null;
  if (spec !== null || size <= MAX_MEMORY_ENTRY_BYTES) return null;
  if (isConditional(headers) || headers["if-range"] !== undefined) return null;
  const key = keyFor(id, null);
  const path = await originals.localPath(key);
  if (path === null) throw new BytesReplaced(`The bytes of ${key} are gone`);
  await requireAlive(library, current);
  const { header, prefix } = sendfile;
  return {
    [header]: encodePath(prefix === undefined ? path : prefix + relative(originals.blobDirectory, path)),
  };
}

/** nginx and lighttpd decode the path. mod_xsendfile 0.12 does not, so a plain path must stay as it is. */
function encodePath(path: string): string {
  return encodeURI(path).replace(/[?#]/g, encodeURIComponent);
}

/** Whether the address of a call is that of a rendition, signed as a permission to read. A body would change what it names. */
export function signedReads(reads: ReadRules, now: () => number): (call: Call, id: string) => boolean {
  return (call, id) => {
    const { path, search } = call;
    if (!search.includes("s=") || hasBody(call)) return false;
    const [, suffix = ""] = /^\/api\/images\/[\w-]+\.(\w+)\/?$/.exec(path) ?? [];
    const format = addressFormatOf(suffix);
    return format !== undefined && isSignedRead(id, format, new URLSearchParams(search), reads, now());
  };
}
