import type { Call } from "../contracts/call.ts";
import type { JsonSchema } from "../schema/json-schema.ts";

/** Schema of the `User-Agent` header where it is required. */
export const USER_AGENT_SCHEMA = {
  type: "string",
  minLength: 1,
  examples: ["ExampleApp/2.1 (Linux)"],
} as const satisfies JsonSchema;

/** First product of a User-Agent header. */
export interface Agent {
  name: string;
  version: string | null;
}

/** `token ["/" token]` of RFC 9110 §10.1.5, then the end, white space or a comment. */
const PRODUCT = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\/([!#$%&'*+.^_`|~0-9A-Za-z-]+))?(?=$|[ \t(])/;

const MAX_PRODUCT_LENGTH = 64;

/** The first product of a User-Agent header, also after comments; `null` if it has none of at most 64 characters. */
export function parseAgent(header: string): Agent | null {
  const match = PRODUCT.exec(header.slice(endOfComments(header)).trim());
  if (match === null || match[0].length > MAX_PRODUCT_LENGTH) return null;
  return { name: match[1] ?? "", version: match[2] ?? null };
}

/** A client can send any text where no proxy or app sets the header. */
const REQUEST_ID = /^[\w.:+/=-]{1,128}$/;

/** The ID that a proxy or the host app has given a request, in `X-Request-Id`. `undefined`: none. */
export function requestIdOf({ headers }: Pick<Call, "headers">): string | undefined {
  const id = headers["x-request-id"];
  return typeof id === "string" && REQUEST_ID.test(id) ? id : undefined;
}

/** Where the white space and comments at the start end. Comments nest and may have quoted pairs (RFC 9110 §5.6.5). */
function endOfComments(header: string): number {
  let depth = 0;
  for (let index = 0; index < header.length; index++) {
    const char = header[index];
    if (char === "(") depth++;
    else if (depth === 0 && char !== " " && char !== "\t") return index;
    else if (char === ")") depth--;
    else if (char === "\\") index++;
  }
  return header.length;
}

/** The preference of a client that sends `Prefer: respond-async` (RFC 7240 §4.1, §4.3). */
export interface AsyncPreference {
  /** How long the client is willing to wait for the final answer, in milliseconds; 0 without `wait`. */
  waitMs: number;
}

/** Pieces between commas outside quotes. An open quote extends to the end. */
const ELEMENT = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** `token [ "=" word ]`, then the end or parameters. None of the supported preferences has parameters. */
const PREFERENCE = new RegExp(
  `^[ \\t]*(${TOKEN})(?:[ \\t]*=[ \\t]*(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)"))?[ \\t]*(?:;|$)`,
);
const SECONDS = /^\d{1,9}$/;

/** Reads a `Prefer` header; `null` if the client does not prefer an asynchronous answer. */
export function parseAsyncPreference(header: string | string[] | undefined): AsyncPreference | null {
  if (header === undefined) return null;
  const preferences = parsePreferences(Array.isArray(header) ? header.join(",") : header);
  if (preferences.get("respond-async") !== "") return null;
  const wait = preferences.get("wait") ?? "";
  return { waitMs: SECONDS.test(wait) ? Number(wait) * 1000 : 0 };
}

/**
 * Values by lower-case name; a missing value is an empty string. Of repeated preferences, the first counts
 * (RFC 7240 §2).
 */
function parsePreferences(header: string): Map<string, string> {
  const preferences = new Map<string, string>();
  for (const [element] of header.matchAll(ELEMENT)) {
    const [, name, token, quoted] = PREFERENCE.exec(element) ?? [];
    if (name === undefined || preferences.has(name.toLowerCase())) continue;
    preferences.set(name.toLowerCase(), token ?? quoted?.replace(/\\(.)/g, "$1") ?? "");
  }
  return preferences;
}
