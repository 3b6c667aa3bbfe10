/** What a client says with `Prefer: respond-async` (RFC 7240 §4.1, §4.3). */
export interface AsyncPreference {
  /** How long it would wait for the final answer all the same, in milliseconds; 0 without `wait`. */
  waitMs: number;
}

/** Pieces between commas outside of quotes. An open quote reaches to the end. */
const ELEMENT = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** `token [ "=" word ]`, then the end or parameters, which none of our preferences has. */
const PREFERENCE = new RegExp(
  `^[ \\t]*(${TOKEN})(?:[ \\t]*=[ \\t]*(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)"))?[ \\t]*(?:;|$)`,
);
const SECONDS = /^\d{1,9}$/;

/** Reads a `Prefer` header; `null` where an answer that comes later is not what the client prefers. */
export function parseAsyncPreference(header: string | string[] | undefined): AsyncPreference | null {
  if (header === undefined) return null;
  const preferences = parsePreferences(Array.isArray(header) ? header.join(",") : header);
  if (preferences.get("respond-async") !== "") return null;
  const wait = preferences.get("wait") ?? "";
  return { waitMs: SECONDS.test(wait) ? Number(wait) * 1000 : 0 };
}

/** Values by lower-case name; no value is an empty one. Of a repeated preference the first counts (RFC 7240 §2). */
function parsePreferences(header: string): Map<string, string> {
  const preferences = new Map<string, string>();
  for (const [element] of header.matchAll(ELEMENT)) {
    const [, name, token, quoted] = PREFERENCE.exec(element) ?? [];
    if (name === undefined || preferences.has(name.toLowerCase())) continue;
    preferences.set(name.toLowerCase(), token ?? quoted?.replace(/\\(.)/g, "$1") ?? "");
  }
  return preferences;
}
