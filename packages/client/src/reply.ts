import { isObject } from "./checks.ts";
import type { ImageRecord } from "./image-types.ts";
import { type LookupFault, OutriggerError, type OutriggerErrorOptions } from "./outrigger-error.ts";

/** The reply to one request. */
export interface Reply {
  /** 0 without a complete reply. */
  status: number;
  /** The reason phrase; empty if the protocol has none. */
  statusText: string;
  headers: Headers;
  /** The complete body; of a refusal only its first 64 KiB. */
  text: string;
  /** The body of a download, which the caller reads: then `text` is empty. */
  body?: ReadableStream<Uint8Array> | null;
  /** The network failure in place of a reply. */
  failure?: OutriggerError;
  /** Whether the service has more bytes of a resumable upload than before the try. */
  hasProgressed?: boolean;
}

/** Most bytes read from a refusal, which may be a large page of a proxy. */
const MAX_REFUSAL_BYTES = 64 * 1024;
const MAX_DETAIL_LENGTH = 500;
const MAX_PAGE_TITLE_LENGTH = 100;
const HTTP_DATE = /^[A-Z][a-z]{2,8}, .+ GMT$/;

/** Reads the body, except of a streamed reply 200; rejects if it is truncated. */
export async function readReply(response: Response, isStreamed = false): Promise<Reply> {
  const { status, statusText, headers, body } = response;
  if (isStreamed && status === 200) return { status, statusText, headers, text: "", body };
  const text = response.ok ? await response.text() : await readStart(body);
  return { status, statusText, headers, text };
}

async function readStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  for (let bytes = 0; bytes < MAX_REFUSAL_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

/** The JSON object in a reply. Throws for any other body, which does not come from the service. */
export function parseJsonReply(reply: Reply): Record<string, unknown> {
  const value = jsonOf(reply);
  if (value !== null) return value;
  throw unexpectedReply(reply);
}

/** The record in a reply; throws for a reply without one. */
export function readImageRecord(reply: Reply): ImageRecord {
  const record = parseJsonReply(reply);
  if (!isImageRecord(record)) throw unexpectedReply(reply);
  const etag = reply.headers.get("ETag");
  return etag === null ? record : { ...record, etag };
}

/** These fields identify a record of the service, which has the documented shape. */
function isImageRecord(value: Record<string, unknown>): value is Record<string, unknown> & ImageRecord {
  return [value.id, value.status, value.url].every((field) => typeof field === "string");
}

/** The error for a successful reply of another form than that of the service. */
export function unexpectedReply({ status }: Reply): OutriggerError {
  const detail =
    "The reply does not come from the service. Check that baseUrl is the address at which it is mounted.";
  return new OutriggerError({ status, title: "Unexpected reply", detail });
}

/** The JSON object in a reply; `null` for any other body. */
export function jsonOf({ headers, text }: Reply): Record<string, unknown> | null {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(headers.get("Content-Type") ?? "")) return null;
  try {
    const value: unknown = JSON.parse(text);
    // An object with unknown content.
    return isObject(value) ? value : null;
  } catch {
    // The text is not JSON.
    return null;
  }
}

/**
 * The error for a network failure, or for a refusal of any form: a problem (RFC 9457), the lookup's list of errors, a line of
 * text, or the page of a proxy. Of a page only the title is used.
 * @param secrets Texts that are removed from the error, since the reply may quote them.
 */
export function readRefusal(reply: Reply, secrets: readonly string[] = []): OutriggerError {
  if (reply.failure !== undefined) return reply.failure;
  const { status, statusText, headers } = reply;
  const line = `${status} ${statusText}`.trim();
  const { title, detail, errors } = explanationOf(reply, line);
  const hide = (text: string) => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, "…"), text);
  return new OutriggerError({
    status,
    title: hide(title || statusText || `HTTP ${status}`),
    detail: hide(detail || `The server answered ${line} without saying why`),
    retryAfterMs: parseRetryAfter(headers, Date.now()),
    errors: errors?.map((each) => ({ ...each, details: hide(each.details) })),
  });
}

type Explanation = Partial<Pick<OutriggerErrorOptions, "title" | "detail" | "errors">>;

function explanationOf(reply: Reply, statusLine: string): Explanation {
  const { status, headers, text } = reply;
  if (status >= 300 && status < 400) {
    const target = oneLine(headers.get("Location")) || "another address";
    return { title: "Redirected", detail: `The address redirects to ${target}: set baseUrl to its target` };
  }
  const object = jsonOf(reply);
  if (object !== null) {
    const errors = Array.isArray(object.errors) ? object.errors.flatMap(faultOf) : [];
    if (errors.length === 0) return { title: oneLine(object.title), detail: oneLine(object.detail) };
    const detail = oneLine(errors.map(({ details }) => details).join("; "));
    return { title: errors[0]?.id ?? "", detail, errors };
  }
  const type = headers.get("Content-Type") ?? "";
  if (/^text\/html\b|^application\/xhtml/i.test(type)) {
    const title = oneLine(/<title[^>]*>([^<]*)</i.exec(text)?.[1], MAX_PAGE_TITLE_LENGTH);
    const says = title === "" ? "" : `: ${title}`;
    return { detail: `The reply is a web page (${statusLine}), which does not come from the service${says}` };
  }
  return /^text\/plain\b/i.test(type) ? { detail: oneLine(text.trim().split("\n", 1)[0]) } : {};
}

function faultOf(value: unknown): LookupFault[] {
  if (!isObject(value)) return [];
  const { id, code, details } = value;
  if (typeof id !== "string" || typeof details !== "string") return [];
  return [{ id, code: typeof code === "number" ? code : 0, details }];
}

/** One line of text without control characters, cut at `maxLength`; empty for a value that is no text. */
function oneLine(value: unknown, maxLength = MAX_DETAIL_LENGTH): string {
  const line = typeof value === "string" ? value.replace(/[\p{Cc}\s]+/gu, " ").trim() : "";
  return line.length > maxLength ? `${line.slice(0, maxLength).trimEnd()}…` : line;
}

/**
 * `Retry-After` in milliseconds from the reply: whole seconds or an HTTP date. A date is compared with `Date` of the reply if
 * readable, so that wrong clocks do not matter. `null` for a missing or invalid header.
 */
export function parseRetryAfter(headers: Headers, nowMs: number): number | null {
  const text = headers.get("Retry-After")?.trim() ?? "";
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  if (!HTTP_DATE.test(text)) return null;
  const untilMs = Date.parse(text);
  const repliedMs = Date.parse(headers.get("Date") ?? "");
  if (Number.isNaN(untilMs)) return null;
  return Math.max(0, untilMs - (Number.isNaN(repliedMs) ? nowMs : repliedMs));
}
