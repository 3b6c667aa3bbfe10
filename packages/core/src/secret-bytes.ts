const PREFIX = "base64:";
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** For the message of a secret that is too short. */
export const KEPT_TEXT =
  "a text base64:… is decoded; to keep its characters, give its bytes: Buffer.from(text)";

/**
 * The bytes of a secret: the base64 after `base64:`, decoded, or the UTF-8 bytes of any other text.
 * `null` for invalid base64 after that prefix.
 */
export function secretBytes(text: string): Buffer | null {
  if (!text.startsWith(PREFIX)) return Buffer.from(text, "utf8");
  const encoded = text.slice(PREFIX.length);
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64") : null;
}

/**
 * The bytes of each secret of a list. A `base64:` text whose bytes are in the list before it stands for the text itself, since
 * earlier releases did not decode a secret given in code. `null` as for {@link secretBytes}.
 */
export function secretsIn(list: readonly (string | Uint8Array)[]): (Buffer | null)[] {
  const keys: (Buffer | null)[] = [];
  for (const each of list) {
    const key = typeof each === "string" ? secretBytes(each) : Buffer.from(each);
    const isText = typeof each === "string" && each.startsWith(PREFIX);
    const isThere = isText && key !== null && keys.some((other) => other?.equals(key));
    keys.push(isThere ? Buffer.from(each, "utf8") : key);
  }
  return keys;
}

/** The secrets of a list that {@link secretsIn} decodes, as the texts that earlier releases took them for. */
export function undecodedIn(list: readonly unknown[]): Buffer[] {
  const texts = list.filter((each): each is string => typeof each === "string" && each.startsWith(PREFIX));
  return texts.map((text) => Buffer.from(text, "utf8"));
}
