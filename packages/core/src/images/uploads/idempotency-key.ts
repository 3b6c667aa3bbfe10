import { createHash } from "node:crypto";
import { ServiceError } from "../../errors.ts";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";

const KEY_CHARACTERS = "[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,255}";

/** The header `Idempotency-Key`: quoted as in the draft, or bare as most clients send it. */
export const IDEMPOTENCY_KEY_SCHEMA = {
  type: "string",
  pattern: `^(?:"(${KEY_CHARACTERS})"|(${KEY_CHARACTERS}))$`,
  examples: ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
} as const satisfies JsonSchema;

const KEY = patternOf(IDEMPOTENCY_KEY_SCHEMA);

/**
 * Returns an idempotency key without its quotes; `null`: not given. Throws `bad_request` for a malformed key.
 * @param called Its name in messages.
 */
export function parseIdempotencyKey(value: unknown, called = "Idempotency-Key"): string | null {
  if (value === undefined) return null;
  const [, quoted, bare] = KEY.exec(String(value)) ?? [];
  const key = quoted ?? bare;
  if (key !== undefined) return key;
  throw new ServiceError("bad_request", `${called} must be 1 to 255 visible ASCII characters without quotes`);
}

/**
 * The name of a claim, unique per uploader and key. A claim leads to the PIN of its image, so a key is private to its uploader.
 * @param uploader Its owner, such as `owner anna`, or all that identifies a client without an owner.
 */
export function claimName(uploader: readonly string[], key: string): string {
  return digestOf([...uploader, key]);
}

/** SHA-256 of a list of texts, hex. */
export function digestOf(parts: readonly (string | null)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
