import type { Call, ReadyReply } from "../../contracts/call.ts";
import type { ImageFormat } from "../../contracts/renderer.ts";
import { evaluatePreconditions, isConditional } from "../../http/conditional.ts";
import { connectionRefusal } from "../../http/transport.ts";
import { ALL_FORMATS } from "../record/formats.ts";
import { ID_LENGTH } from "../record/image-id.ts";
import { whyUnavailable } from "../record/image-life.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { HotBytes } from "../renditions/servable-bytes.ts";
import type { ImageContext } from "./image-context.ts";
import { type FlatHeaders, knownRead, type PreparedRead } from "./prepared-read.ts";
import { hasBody } from "./read-body.ts";
import { secondsLeft, wholeHeaders, withCaching } from "./read-headers.ts";

const PREFIX = "/api/images/";
const DOT = PREFIX.length + ID_LENGTH;
const FORMATS_BY_SUFFIX = new Map<string, ImageFormat>([
  ...ALL_FORMATS.map((format) => [format, format] as const),
  ["jpeg", "jpg"],
]);

/**
 * The fast path of `GET HEAD {base}/api/images/<id>.<format>`: answers without waiting a read whose bytes are in memory and
 * whose parameters an earlier read has validated. The record is proved current and alive as always. Everything else gets
 * `undefined`, e.g. ranges, bodies, signed addresses, failed preconditions and all refusals.
 *
 * `null`: with these settings each read has to wait or be counted.
 */
export function createHotRead(context: ImageContext): ((call: Call) => ReadyReply | undefined) | null {
  const { library, permissions, settings } = context;
  const { guard, records, renditions } = library;
  if (permissions.areAsked || settings.rules.reads !== null) return null;

  return (call) => {
    const { method, path, headers } = call;
    if (method !== "GET" && method !== "HEAD") return undefined;
    if (path.charCodeAt(DOT) !== 0x2e || !path.startsWith(PREFIX)) return undefined;
    const format = FORMATS_BY_SUFFIX.get(path.slice(DOT + 1));
    if (format === undefined || headers.range !== undefined || hasBody(call)) return undefined;
    if (!guard.isOpen || connectionRefusal(call, settings) !== null) return undefined;
    const current = records.peek(path.slice(PREFIX.length, DOT));
    if (current === undefined) return undefined;
    const { record } = current;
    if (record.processing !== null || whyUnavailable(record, settings.now(), settings.tombstoneMs) !== null) {
      return undefined;
    }
    const read = knownRead(current, format, call.search);
    if (read === undefined || read.untilMs !== null) return undefined;
    const hot = renditions.peek(record.id, read.spec);
    if (hot === undefined) return undefined;
    const { bytes, etag } = hot;
    if (isConditional(headers)) {
      const { lastModifiedMs } = read;
      const precondition = evaluatePreconditions(method, headers, { etag, lastModifiedMs });
      if (precondition === "failed") return undefined;
      if (precondition === "not_modified") {
        return { status: 304, headers: replyHeaders(context, current, read, hot).notModified };
      }
    }
    const { whole } = replyHeaders(context, current, read, hot);
    return method === "HEAD" ? { status: 200, headers: whole } : { status: 200, headers: whole, body: bytes };
  };
}

/** The headers of a public reply, flat. Kept with the read while the image lives longer than `cacheSeconds`. */
function replyHeaders(
  context: ImageContext,
  current: CurrentRecord,
  read: PreparedRead,
  { bytes, etag }: HotBytes,
): FlatHeaders {
  const isPlain = secondsLeft(context, current.record, read) >= context.settings.cacheSeconds;
  const { flat } = read;
  if (isPlain && flat?.etag === etag) return flat;
  const made = {
    etag,
    whole: Object.entries(wholeHeaders(context, current, read, bytes.length, etag, "public")).flat(),
    notModified: Object.entries({ ...withCaching(context, current, read, "public"), ETag: etag }).flat(),
  };
  if (isPlain) read.flat = made;
  return made;
}
