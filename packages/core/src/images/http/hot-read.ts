import type { Call, ReadyReply } from "../../contracts/call.ts";
import { evaluatePreconditions, isConditional } from "../../http/conditional.ts";
import { connectionRefusal } from "../../http/transport.ts";
import { addressFormatOf } from "../record/formats.ts";
import { isServable } from "../record/image-links.ts";
import { ID_LENGTH } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { stateAt } from "../record/image-state.ts";
import { negotiateFormat } from "../renditions/negotiate-format.ts";
import type { HotBytes } from "../renditions/rendition-bytes.ts";
import type { ImageContext } from "./image-context.ts";
import { countReadNow, countsNow } from "./limits.ts";
import type { Audience } from "./permissions.ts";
import {
  type FlatHeaders,
  knownRead,
  type PreparedRead,
  secondsLeft,
  wholeHeaders,
  withCaching,
} from "./prepared-read.ts";
import { hasBody } from "./read-body.ts";

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

    const current = records.peekServable(path.slice(PREFIX.length, DOT));
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
