import type { IncomingHttpHeaders } from "node:http";

/** Query parameters that are worth logging and can hold no secret. All others are left out, name and value. */
const PUBLIC_PARAMETERS = new Set(["resize", "convert", "page", "preset"]);
/** No PIN and no key of the lookup is so short; the name of a preset may be. */
const PUBLIC_VALUE = /^[a-z0-9-]{1,12}$/i;

/** Headers that are worth logging when something is to be found out. All others are left out. */
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
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
] as const;

const MAX_LENGTH = 256;

/** What looks like a PIN, with or without its hyphens. An image ID has 22 characters and does not. */
const PIN_LIKE = /(?<![\w-])(?:[0-9A-TV-Z]{4}-?){4}(?![\w-])/gi;
/** A key of the lookup. */
const KEY_LIKE = /(?<![\w-])[0-9a-f]{40}(?![\w-])/gi;
/** Bounded before the `@`, so that a long path costs no more than its length. */
const ADDRESS_LIKE = /[^\s/?&=<>()",;:]{1,256}(?:@|%(?:25)*40)[^\s/?&=<>()",;:]+/gi;
const ASSIGNMENT = /(pin|api_key|token|secret)(?:=|%3d).*/gi;

/** A request target for the log: its path, and of its query only what can hold no secret. */
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

/** The headers of a request for the log. */
export function safeHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of PUBLIC_HEADERS) {
    const value = headers[name];
    if (value !== undefined) kept[name] = safeText(String(value));
  }
  if (headers.referer !== undefined) kept.referer = safeTarget(headers.referer);
  return kept;
}

/** Also for a secret or an email address that strayed where none belongs, e.g. a `?` that came as `%3F`. */
function safeText(text: string): string {
  return text
    .replace(ASSIGNMENT, "$1=[redacted]")
    .replace(PIN_LIKE, "[redacted]")
    .replace(KEY_LIKE, "[redacted]")
    .replace(ADDRESS_LIKE, "[redacted]")
    .slice(0, MAX_LENGTH);
}
