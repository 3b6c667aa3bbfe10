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
