import { createHash } from "node:crypto";
import type { Call, Upload } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { clientKey } from "../../http/client-key.ts";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";

const KEY_CHARACTERS = "[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,255}";

/** The header `Idempotency-Key`: a structured string, quoted as the draft has it, or bare as most clients send it. */
export const IDEMPOTENCY_KEY_SCHEMA = {
  type: "string",
  pattern: `^(?:"(${KEY_CHARACTERS})"|(${KEY_CHARACTERS}))$`,
  examples: ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
} as const satisfies JsonSchema;

const KEY = patternOf(IDEMPOTENCY_KEY_SCHEMA);

/** The `Idempotency-Key` of a request, `null` without. Rejects with `bad_request` for what is none. */
export function parseIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const [, quoted, bare] = KEY.exec(String(header)) ?? [];
  const key = quoted ?? bare;
  if (key !== undefined) return key;
  throw new ServiceError(
    "bad_request",
    "Idempotency-Key must be 1 to 255 visible ASCII characters without quotes",
  );
}

/**
 * Names a key among those of all clients. Whoever has the name of an image's claim is given its PIN: so a key belongs to
 * the owner that the host names, else to the client's address.
 */
export function claimName(call: Call, key: string, owner: string | null): string {
  const scope = owner === null ? `client ${clientKey(call.clientIp)}` : `owner ${owner}`;
  return digest([scope, key]);
}

/** What makes two uploads the same: the bytes, and all that is said about them. */
export function fingerprintOf(call: Call, { file, fields }: Upload): string {
  const said = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return digest([file.sha256, file.declaredType, file.name, call.search, JSON.stringify(said)]);
}

function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
