import { createHmac, timingSafeEqual } from "node:crypto";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { type Secret, toKeys } from "../../secret-bytes.ts";

/** Crockford's base 32: no I, L, O, U. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const PIN_LENGTH = 16;
/** No longer text is read as a PIN. */
const MAX_LENGTH = 1024;
/** White space, dashes, what looks like one, and invisible characters: copying adds them. The client has the same. */
const IGNORED =
  /[\s\p{Dash}\u02d7\u2043\u2500\u2796\u30fc\uff70\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800\ufffc]+/gu;

/** A PIN as it is issued. Clients may send other spellings, see {@link normalisePin}. */
export const PIN_SCHEMA = {
  type: "string",
  pattern: `^[${ALPHABET}]{${PIN_LENGTH}}$`,
  description: "Required to edit or delete the image. Keep it secret.",
  examples: ["7Q2M9XK4T0VB3HZC"],
} as const satisfies JsonSchema;

/** The PINs of images, once there is a secret: derived from it, never stored. Throws before. */
export class Pins {
  #keys: readonly Buffer[] = [];

  constructor(secret?: Secret) {
    if (secret !== undefined) this.setSecret(secret);
  }

  /** In a list, the first secret issues PINs, and those of all are accepted. @throws TypeError for a secret shorter than 32 bytes. */
  setSecret(secret: Secret): void {
    this.#keys = toKeys(secret);
    if (this.#keys.length === 0) throw new TypeError("secret must not be an empty list");
  }

  /** The PIN of an image: the first 80 bits of HMAC-SHA256(secret, id). */
  pinOf(id: string): string {
    const [issuing] = this.#keys;
    if (issuing === undefined) throw new Error("A PIN was requested before the store was open");
    return derive(issuing, id);
  }

  /** A tag that stands for a client among those of an image, and tells nothing else of it. */
  tagOf(id: string, client: string): string {
    return this.pinOf(`${id} ${client}`);
  }

  /** Compares in constant time, after {@link normalisePin}. */
  verify(id: string, pin: string): boolean {
    if (this.#keys.length === 0) throw new Error("A PIN was checked before the store was open");
    const given = Buffer.from(
      normalisePin(pin)
        .padEnd(PIN_LENGTH)
        .slice(0, PIN_LENGTH + 1),
      "utf8",
    );
    let isRight = false;
    for (const key of this.#keys) {
      const expected = Buffer.from(derive(key, id), "latin1");
      if (given.length === expected.length && timingSafeEqual(given, expected)) isRight = true;
    }
    return isRight;
  }
}

function derive(key: Buffer, id: string): string {
  const digest = createHmac("sha256", key).update(id).digest();
  let bits = 0n;
  for (const byte of digest.subarray(0, 10)) bits = (bits << 8n) | BigInt(byte);
  let pin = "";
  for (let shift = 75n; shift >= 0n; shift -= 5n) pin += ALPHABET.charAt(Number((bits >> shift) & 31n));
  return pin;
}

/** The issued spelling of a PIN. White space, dashes, invisible characters, case and look-alikes (O, I, L) do not matter. */
export function normalisePin(pin: string): string {
  if (pin.length > MAX_LENGTH) return "";
  return pin.replace(IGNORED, "").toUpperCase().replaceAll("O", "0").replace(/[IL]/g, "1");
}
