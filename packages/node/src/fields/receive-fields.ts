import { ServiceError } from "@outrigger/core";
import { bodyTakenError, hasBody, isBodyTaken, pumpBody } from "../body-pump.ts";
import type { Incoming } from "../incoming.ts";
import { parseMediaType } from "../media-type.ts";
import { type BodyFormat, fieldsFromParsed, parseFields } from "./parse-fields.ts";

/** Minimum average rate, which counts after half a minute: such bodies are small. */
const MIN_BYTES_PER_SECOND = 1024;

type Fields = Readonly<Record<string, unknown>>;

/** Implements `Call.fields`. @param parsedBody Returns the result of the host's own parser. */
export async function receiveFields(
  req: Incoming,
  limits: { maxBytes: number; idleMs: number },
  signal: AbortSignal,
  parsedBody: () => unknown,
): Promise<Fields | null> {
  const isPresent = hasBody(req);
  if (isPresent === false) return null;
  // A request that turns out to have no body needs no media type.
  const announced = isPresent ? bodyFormat(req) : undefined;
  if (Number(req.headers["content-length"]) > limits.maxBytes) {
    throw new ServiceError("too_large", `The body is over the limit of ${limits.maxBytes} bytes`);
  }
  if (isBodyTaken(req)) {
    const format = announced ?? bodyFormat(req);
    const parsed = parsedBody();
    if (typeof parsed === "string") return parseFields(format, Buffer.from(parsed));
    if (parsed instanceof Uint8Array) return parseFields(format, parsed);
    if (parsed === undefined || parsed === null) throw bodyTakenError();
    return fieldsFromParsed(format, parsed);
  }
  const bytes = await readBody(req, limits, signal);
  return bytes.length === 0 ? null : parseFields(announced ?? bodyFormat(req), bytes);
}

function bodyFormat(req: Incoming): BodyFormat {
  const encoding = req.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new ServiceError("unsupported_media", "A body with a Content-Encoding is not accepted");
  }
  const type = parseMediaType(req.headers["content-type"]);
  const charset = type?.parameters.get("charset");
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new ServiceError("unsupported_media", "The body must be UTF-8");
  }
  if (type?.essence === "application/json" || type?.essence.endsWith("+json")) return "json";
  if (type?.essence === "application/x-www-form-urlencoded") return "form";
  throw new ServiceError(
    "unsupported_media",
    "The body must be application/json or application/x-www-form-urlencoded",
  );
}

function readBody(
  req: Incoming,
  limits: { maxBytes: number; idleMs: number },
  signal: AbortSignal,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    pumpBody(req, { ...limits, minBytesPerSecond: MIN_BYTES_PER_SECOND }, signal, {
      write: (chunk) => chunks.push(chunk) > 0,
      end: () => resolve(Buffer.concat(chunks)),
      fail: reject,
    });
  });
}
