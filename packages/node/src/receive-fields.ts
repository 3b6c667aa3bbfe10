import { TextDecoder } from "node:util";
import { type BodyLimits, type BytesLimits, ServiceError } from "@outrigger/core";
import { bytesText } from "@outrigger/core/values";
import { BodyPump } from "./body-pump.ts";
import type { Incoming } from "./incoming.ts";
import { bodyTakenError, hasBody, isBodyTaken, parseMediaType, requirePlain } from "./incoming.ts";

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

/** Implements `Call.bytes`. @param parsedBody Returns the result of the host's own parser. */
export async function receiveBytes(
  req: Incoming,
  limits: BytesLimits,
  take: (chunk: Uint8Array) => Promise<void>,
  signal: AbortSignal,
  parsedBody: () => unknown,
): Promise<void> {
  requirePlain(req);
  requireLength(req.headers["content-length"], limits);
  await limits.slot?.wait(signal);
  if (!isBodyTaken(req)) return readBody(req, limits, signal, take);
  const parsed = takeParsed(parsedBody);
  if (!(parsed instanceof Uint8Array)) throw bodyTakenError();
  requireLength(parsed.length, limits);
  if (parsed.length > 0) await take(parsed);
}

/** The bytes of the body, or the value that a parser of the host made of them. */
async function takeBody(
  req: Incoming,
  limits: BodyLimits,
  signal: AbortSignal,
  parsedBody: () => unknown,
): Promise<unknown> {
  requireLength(req.headers["content-length"], limits);
  if (isBodyTaken(req)) {
    const parsed = takeParsed(parsedBody);
    return typeof parsed === "string" ? Buffer.from(parsed) : parsed;
  }
  const chunks: Buffer[] = [];
  await readBody(req, limits, signal, async (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}

function requireLength(length: unknown, { maxBytes }: BodyLimits): void {
  if (Number(length) > maxBytes) {
    throw new ServiceError("too_large", `The body is over the limit of ${bytesText(maxBytes)}`);
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
  requirePlain(req);
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
  limits: BodyLimits | BytesLimits,
  signal: AbortSignal,
  take: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let taken = Promise.resolve();
    const pump = new BodyPump(req, { minBytesPerSecond: MIN_BYTES_PER_SECOND, ...limits }, signal, {
      write(chunk) {
        taken = taken.then(() => take(chunk)).then(() => pump.resume());
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

export type BodyFormat = "json" | "form";

/** Parses a body's bytes. Throws `bad_request` if they are malformed, not an object or not UTF-8. */
export function parseFields(format: BodyFormat, bytes: Uint8Array): Fields {
  const text = decode(bytes);
  return format === "json" ? fieldsFromParsed("json", parseJson(text)) : parseForm(text);
}

/**
 * Reads the fields of a body that the host has parsed: the object's own values. A host's form parser may build
 * lists and trees from names like `a[b]`: of a form, only strings count, and of a list its last string.
 */
function fieldsFromParsed(format: BodyFormat, parsed: unknown): Fields {
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new ServiceError("bad_request", "The body must be an object");
  }
  // Without a prototype, a field named __proto__ is an ordinary field.
  const fields: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(parsed)) {
    if (format === "json") {
      fields[name] = value;
      continue;
    }
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    if (typeof last === "string") fields[name] = last;
  }
  return fields;
}

/** Throws `bad_request` for bytes that are not UTF-8. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ServiceError("bad_request", "The body is not valid UTF-8", { cause });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError("bad_request", "The body is not valid JSON", { cause });
  }
}

function parseForm(text: string): Fields {
  const fields: Record<string, string> = Object.create(null);
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = equals === -1 ? pair : pair.slice(0, equals);
    const value = equals === -1 ? "" : pair.slice(equals + 1);
    fields[decodeComponent(name)] = decodeComponent(value);
  }
  return fields;
}

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch (cause) {
    throw new ServiceError("bad_request", "The form has a malformed or non-UTF-8 percent-encoding", {
      cause,
    });
  }
}
