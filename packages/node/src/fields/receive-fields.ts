import { ServiceError } from "@outrigger/core";
import { bodyTakenError, hasBody, isBodyTaken, pumpBody } from "../body-pump.ts";
import type { Incoming } from "../incoming.ts";
import { parseMediaType } from "../media-type.ts";
import { type BodyFormat, decode, fieldsFromParsed, parseFields } from "./parse-fields.ts";

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
  const body = await takeBody(req, limits, signal, parsedBody);
  if (body instanceof Uint8Array && body.length === 0) return null;
  const format = announced ?? bodyFormat(req);
  return body instanceof Uint8Array ? parseFields(format, body) : fieldsFromParsed(format, body);
}

/** Implements `Call.text`. @param parsedBody Returns the result of the host's own parser. */
export async function receiveText(
  req: Incoming,
  type: string,
  limits: { maxBytes: number; idleMs: number },
  signal: AbortSignal,
  parsedBody: () => unknown,
): Promise<string | null> {
  const isPresent = hasBody(req);
  if (isPresent === false) return null;
  const checkType = () => {
    if (mediaType(req) !== type) throw new ServiceError("unsupported_media", `The body must be ${type}`);
  };
  if (isPresent) checkType();
  const body = await takeBody(req, limits, signal, parsedBody);
  if (!(body instanceof Uint8Array)) throw bodyTakenError();
  if (body.length === 0) return null;
  checkType();
  return decode(body);
}

/** The bytes of the body, or the value that a parser of the host made of them. */
async function takeBody(
  req: Incoming,
  limits: { maxBytes: number; idleMs: number },
  signal: AbortSignal,
  parsedBody: () => unknown,
): Promise<unknown> {
  if (Number(req.headers["content-length"]) > limits.maxBytes) {
    throw new ServiceError("too_large", `The body is over the limit of ${limits.maxBytes} bytes`);
  }
  if (!isBodyTaken(req)) return readBody(req, limits, signal);
  const parsed = parsedBody();
  if (parsed === undefined || parsed === null) throw bodyTakenError();
  return typeof parsed === "string" ? Buffer.from(parsed) : parsed;
}

function bodyFormat(req: Incoming): BodyFormat {
  const essence = mediaType(req);
  if (essence === "application/json" || essence?.endsWith("+json")) return "json";
  if (essence === "application/x-www-form-urlencoded") return "form";
  throw new ServiceError(
    "unsupported_media",
    "The body must be application/json or application/x-www-form-urlencoded",
  );
}

/** The media type of a body in UTF-8; rejects any other character set and content encoding. */
function mediaType(req: Incoming): string | undefined {
  const encoding = req.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new ServiceError("unsupported_media", "A body with a Content-Encoding is not accepted");
  }
  const type = parseMediaType(req.headers["content-type"]);
  const charset = type?.parameters.get("charset");
  if (charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new ServiceError("unsupported_media", "The body must be UTF-8");
  }
  return type?.essence;
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
