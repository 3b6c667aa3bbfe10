import { type BodyLimits, ServiceError, type TakeText } from "@outrigger/core";
import { bodyTakenError, hasBody, isBodyTaken, pumpBody } from "../body-pump.ts";
import type { Incoming } from "../incoming.ts";
import { parseMediaType } from "../media-type.ts";
import { type BodyFormat, createDecoder, decode, fieldsFromParsed, parseFields } from "./parse-fields.ts";

/** Minimum average rate, which counts after half a minute: such bodies are small. */
const MIN_BYTES_PER_SECOND = 1024;

type Fields = Readonly<Record<string, unknown>>;

/** Implements `Call.fields`. @param parsedBody Returns the result of the host's own parser. */
export async function receiveFields(
  req: Incoming,
  limits: BodyLimits,
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
  types: readonly string[],
  limits: BodyLimits,
  take: TakeText,
  signal: AbortSignal,
  parsedBody: () => unknown,
): Promise<string | null> {
  const isPresent = hasBody(req);
  if (isPresent === false) return null;
  let type = isPresent ? textType(req, types) : null;
  let hasText = false;
  const pass = async (text: string) => {
    if (text === "") return;
    hasText = true;
    type ??= textType(req, types);
    await take(text, type);
  };
  requireLength(req, limits);
  if (isBodyTaken(req)) {
    const parsed = takeParsed(parsedBody);
    const isText = typeof parsed === "string" || parsed instanceof Uint8Array;
    if (!isText && type !== "application/json") throw bodyTakenError();
    await pass(isText ? decode(Buffer.from(parsed)) : JSON.stringify(parsed));
  } else {
    const decoder = createDecoder();
    await readBody(req, limits, signal, (chunk) => pass(decode(chunk, decoder)));
    await pass(decode(undefined, decoder));
  }
  return hasText ? type : null;
}

function textType(req: Incoming, types: readonly string[]): string {
  const essence = mediaType(req) ?? "";
  const type = essence.endsWith("+json") ? "application/json" : essence;
  if (types.includes(type)) return type;
  throw new ServiceError("unsupported_media", `The body must be ${types.join(" or ")}`);
}

/** The bytes of the body, or the value that a parser of the host made of them. */
async function takeBody(
  req: Incoming,
  limits: BodyLimits,
  signal: AbortSignal,
  parsedBody: () => unknown,
): Promise<unknown> {
  requireLength(req, limits);
  if (isBodyTaken(req)) {
    const parsed = takeParsed(parsedBody);
    return typeof parsed === "string" ? Buffer.from(parsed) : parsed;
  }
  const chunks: Buffer[] = [];
  await readBody(req, limits, signal, async (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}

function requireLength(req: Incoming, { maxBytes }: BodyLimits): void {
  if (Number(req.headers["content-length"]) > maxBytes) {
    throw new ServiceError("too_large", `The body is over the limit of ${maxBytes} bytes`);
  }
}

/** The value that a parser of the host made of the body. */
function takeParsed(parsedBody: () => unknown): unknown {
  const parsed = parsedBody();
  if (parsed === undefined || parsed === null) throw bodyTakenError();
  return parsed;
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

/** Passes the chunks of the body to `take`; the next one waits for it. */
function readBody(
  req: Incoming,
  limits: BodyLimits,
  signal: AbortSignal,
  take: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let taken = Promise.resolve();
    const pump = pumpBody(req, { ...limits, minBytesPerSecond: MIN_BYTES_PER_SECOND }, signal, {
      write(chunk) {
        taken = taken.then(() => take(chunk)).then(pump.resume);
        taken.catch((error) => {
          pump.stop();
          reject(error);
        });
        return false;
      },
      // The last chunk may still be taken.
      end: () => taken.then(resolve, reject),
      fail: reject,
    });
  });
}
