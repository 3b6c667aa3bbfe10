import { createHmac, hkdfSync } from "node:crypto";
import { type Secret, toKeys } from "../secret-bytes.ts";

/** Keys that the lookup derives from one secret. No key reveals another key, or the secret. */
export interface LookupKeys {
  /** HMAC key of suppressions and of cached verdicts. */
  suppressions: Buffer;
  /** Secret of the mail prober's cache. */
  proberSecret: string;
  /** The API key of the demonstration. */
  sampleKey: string;
  /** The token that binds the n-th place of a suppression list to this secret, see `createMarkers`. */
  markerOf(place: number): string;
}

const SAMPLE_KEY_BYTES = 20;

/**
 * Derives the lookup's keys from every secret of a rotation list, the current one first.
 * @throws TypeError for a secret shorter than 32 bytes, and for an empty list.
 */
export function deriveLookupKeys(secret: Secret): [LookupKeys, ...LookupKeys[]] {
  const [first, ...others] = toKeys(secret).map(deriveKeys);
  if (first === undefined) throw new TypeError("secret must not be an empty list");
  return [first, ...others];
}

function deriveKeys(raw: Buffer): LookupKeys {
  const derive = (label: string, bytes = 32) =>
    Buffer.from(hkdfSync("sha256", raw, "", `outrigger lookup: ${label}`, bytes));
  const markers = derive("markers");
  return {
    suppressions: derive("suppressions"),
    proberSecret: derive("mail hosts").toString("base64url"),
    sampleKey: derive("sample key", SAMPLE_KEY_BYTES).toString("hex"),
    markerOf: (place) => createHmac("sha256", markers).update(`place ${place}`).digest("base64url"),
  };
}

/** The HMAC keys of stored tokens. New tokens use the first. */
export function hmacKeysOf(keys: readonly LookupKeys[]): Buffer[] {
  return keys.map(({ suppressions }) => suppressions);
}
