import { isUint8Array } from "node:util/types";

/** The keys of a service. In a list, the first signs and all verify. A text `base64:…` is decoded. */
export type Secret = string | Uint8Array | readonly (string | Uint8Array)[];

export const MIN_SECRET_BYTES = 32;
const PREFIX = "base64:";
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** For the message of a secret that is too short. */
export const KEPT_TEXT =
  "a text base64:… is decoded; to keep its characters, give its bytes: Buffer.from(text)";

/** Whether a secret is a text that {@link secretBytes} decodes. */
export function isEncoded(secret: unknown): boolean {
  return typeof secret === "string" && secret.startsWith(PREFIX);
}

/**
 * The bytes of a secret: the base64 after `base64:`, decoded, or the UTF-8 bytes of any other text.
 * `null` for invalid base64 after that prefix.
 */
export function secretBytes(text: string): Buffer | null {
  if (!isEncoded(text)) return Buffer.from(text, "utf8");
  const encoded = text.slice(PREFIX.length);
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64") : null;
}

/** The keys of a secret, the signing key first. @throws TypeError for a key shorter than 32 bytes. */
export function toKeys(secret: Secret): Buffer[] {
  const list: (string | Uint8Array)[] = [secret].flat();
  // `instanceof` fails for bytes of another realm, as under Jest.
  if (list.some((each) => typeof each !== "string" && !isUint8Array(each))) {
    throw new TypeError(
      `secret must be a string, bytes or a list of those, each of at least ${MIN_SECRET_BYTES} bytes`,
    );
  }
  return list.map((each) => {
    const key = typeof each === "string" ? secretBytes(each) : Buffer.from(each);
    if (key !== null && key.length >= MIN_SECRET_BYTES) return key;
    throw new TypeError(`secret must have at least ${MIN_SECRET_BYTES} bytes; ${KEPT_TEXT}`);
  });
}
