import { createHmac, timingSafeEqual } from "node:crypto";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { type Secret, toKeys } from "../../secret-bytes.ts";

/** Crockford's base 32: no I, L, O, U. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const PIN_LENGTH = 16;

/** A PIN as it is issued. Clients may send other spellings, see {@link Pins.verify}. */
export const PIN_SCHEMA = {
  type: "string",
  pattern: `^[${ALPHABET}]{${PIN_LENGTH}}$`,
  description: "Required to edit or delete the image. Keep it secret.",
  examples: ["7Q2M9XK4T0VB3HZC"],
} as const satisfies JsonSchema;

export interface Pins {
  /** The PIN of an image: the first 80 bits of HMAC-SHA256(secret, id). Derived, never stored. */
  pinOf(id: string): string;
  /** Compares in constant time. Case, hyphens and Crockford's look-alikes (O, I, L) do not matter. */
  verify(id: string, pin: string): boolean;
}

/** @throws TypeError for a secret shorter than 32 bytes. */
export function createPins(secret: Secret): Pins {
  const keys = toKeys(secret);
  const [signing] = keys;
  if (signing === undefined) throw new TypeError("secret must not be an empty list");
  return {
    pinOf: (id) => derive(signing, id),
    verify(id, pin) {
      const given = Buffer.from(
        normalise(pin)
          .padEnd(PIN_LENGTH)
          .slice(0, PIN_LENGTH + 1),
        "utf8",
      );
      let isRight = false;
      for (const key of keys) {
        const expected = Buffer.from(derive(key, id), "latin1");
        if (given.length === expected.length && timingSafeEqual(given, expected)) isRight = true;
      }
      return isRight;
    },
  };
}

function derive(key: Buffer, id: string): string {
  const digest = createHmac("sha256", key).update(id).digest();
  let bits = 0n;
  for (const byte of digest.subarray(0, 10)) bits = (bits << 8n) | BigInt(byte);
  let pin = "";
  for (let shift = 75n; shift >= 0n; shift -= 5n) pin += ALPHABET.charAt(Number((bits >> shift) & 31n));
  return pin;
}

function normalise(pin: string): string {
  return pin.toUpperCase().replaceAll("-", "").replaceAll("O", "0").replace(/[IL]/g, "1");
}
