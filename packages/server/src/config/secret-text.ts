const PREFIX = "base64:";
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * The bytes of a configured secret: the base64 after `base64:`, decoded, or the UTF-8 bytes of any other text.
 * `null` for invalid base64 after that prefix.
 */
export function secretBytes(text: string): Buffer | null {
  if (!text.startsWith(PREFIX)) return Buffer.from(text, "utf8");
  const encoded = text.slice(PREFIX.length);
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64") : null;
}

/** The inverse of {@link secretBytes} for any bytes. */
export function secretText(bytes: Buffer): string {
  return PREFIX + bytes.toString("base64");
}

/** The bytes of each secret in the key `secret`, which has been validated. */
export function secretsOf(secret: string | readonly string[]): Buffer[] {
  return [secret].flat().flatMap((text) => secretBytes(text) ?? []);
}
