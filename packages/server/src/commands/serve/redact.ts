import type { IncomingHttpHeaders } from "node:http";

/** Query parameters that are useful in logs and never hold a secret. All others are omitted with their values. */
const PUBLIC_PARAMETERS = new Set(["resize", "convert", "page", "preset"]);
/** Shorter than any PIN or lookup key, long enough for most preset names. */
const PUBLIC_VALUE = /^[a-z0-9-]{1,12}$/i;

/** Headers that are useful for debugging. All others are omitted. */
const PUBLIC_HEADERS = [
  "host",
  "user-agent",
  "accept",
  "content-type",
  "content-length",
  "transfer-encoding",
  "expect",
  "range",
  "if-range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "via",
  "x-forwarded-host",
  "x-forwarded-proto",
] as const;
const ADDRESS_HEADERS = ["forwarded", "x-forwarded-for"] as const;

const MAX_LENGTH = 256;

/** Matches anything like a PIN, with or without hyphens. An image ID has 22 characters and does not match. */
const PIN_LIKE = /(?<![\w-])(?:[0-9A-TV-Z]{4}-?){4}(?![\w-])/gi;
/** Matches a key of the lookup. */
const KEY_LIKE = /(?<![\w-])[0-9a-f]{40}(?![\w-])/gi;
/** Bounded before the `@`, so that the time is linear in the length of a path. */
const ADDRESS_LIKE = /[^\s/?&=<>()",;:]{1,256}(?:@|%(?:25)*40)[^\s/?&=<>()",;:]+/gi;
/** The ID of an unfinished upload, which proves that a client may continue it. */
const UPLOAD_ID = /(\/api\/uploads\/)[^/?]+/gi;
const ASSIGNMENT = /(pin|api_key|token|secret|ticket)(?:=|%3d).*/gi;

/** A request target for the log: its path and the query parameters that hold no secret. */
export function safeTarget(target: string): string {
  const question = target.indexOf("?");
  const path = safeText(question === -1 ? target : target.slice(0, question));
  if (question === -1) return path;
  const kept: string[] = [];
  for (const [name, value] of new URLSearchParams(target.slice(question + 1))) {
    if (PUBLIC_PARAMETERS.has(name) && PUBLIC_VALUE.test(value)) kept.push(`${name}=${value}`);
  }
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}

/** The headers of a request for the log. @param withAddresses Whether those with clients' addresses are kept. */
export function safeHeaders(headers: IncomingHttpHeaders, withAddresses: boolean): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of withAddresses ? [...PUBLIC_HEADERS, ...ADDRESS_HEADERS] : PUBLIC_HEADERS) {
    const value = headers[name];
    if (value !== undefined) kept[name] = safeText(String(value));
  }
  if (headers.referer !== undefined) kept.referer = safeTarget(headers.referer);
  return kept;
}

/** Redacts secrets and email addresses in unexpected places, e.g. after a `?` sent as `%3F`. */
function safeText(text: string): string {
  return text
    .replace(UPLOAD_ID, "$1[redacted]")
    .replace(ASSIGNMENT, "$1=[redacted]")
    .replace(PIN_LIKE, "[redacted]")
    .replace(KEY_LIKE, "[redacted]")
    .replace(ADDRESS_LIKE, "[redacted]")
    .slice(0, MAX_LENGTH);
}
