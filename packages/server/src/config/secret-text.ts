const PREFIX = "base64:";
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * The bytes that a secret of the configuration stands for: those of the text, or what follows `base64:`.
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

/** What the key `secret` of a configuration stands for, which is proved. */
export function secretsOf(secret: string | readonly string[]): Buffer[] {
  return [secret].flat().flatMap((text) => secretBytes(text) ?? []);
}
