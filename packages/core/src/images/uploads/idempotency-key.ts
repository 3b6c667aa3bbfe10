import { createHash } from "node:crypto";
import { ServiceError } from "../../errors.ts";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";

const KEY_CHARACTERS = "[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,255}";

/** The header `Idempotency-Key`: a structured string, quoted as the draft has it, or bare as most clients send it. */
export const IDEMPOTENCY_KEY_SCHEMA = {
  type: "string",
  pattern: `^(?:"(${KEY_CHARACTERS})"|(${KEY_CHARACTERS}))$`,
  examples: ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
} as const satisfies JsonSchema;

const KEY = patternOf(IDEMPOTENCY_KEY_SCHEMA);

/**
 * An idempotency key without its quotes, `null` where none is given. Rejects with `bad_request` what is out of form.
 * @param called what messages call it.
 */
export function parseIdempotencyKey(value: unknown, called = "Idempotency-Key"): string | null {
  if (value === undefined) return null;
  const [, quoted, bare] = KEY.exec(String(value)) ?? [];
  const key = quoted ?? bare;
  if (key !== undefined) return key;
  throw new ServiceError("bad_request", `${called} must be 1 to 255 visible ASCII characters without quotes`);
}

/**
 * Names a key among those of all uploaders. A claim's name leads to the PIN of its image, so a key belongs to its uploader.
 * @param uploader such as `owner anna`.
 */
export function claimName(uploader: string, key: string): string {
  return digestOf([uploader, key]);
}

/** Names a list of texts. */
export function digestOf(parts: readonly (string | null)[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
