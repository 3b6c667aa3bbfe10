import { createHmac, timingSafeEqual } from "node:crypto";
import { type Secret, toKeys } from "../../secret-bytes.ts";
import type { AddressFormat } from "../record/formats.ts";
import type { ReadParameters } from "./read-parameters.ts";

/** Label for key derivation. It keeps signatures apart from PINs, which sign an ID of 22 characters. */
const KEY_LABEL = "outrigger image address signature, version 1";

/** The parts of an address that a signature covers: all that determine the picture. */
export interface SignedAddress {
  id: string;
  format: AddressFormat;
  /** Parsed values: two spellings of the same values have one signature. */
  parameters: ReadParameters;
  /** Name of a preset; `parameters` is then empty. */
  preset?: string | undefined;
  /** End of validity in Unix milliseconds. */
  untilMs?: number | undefined;
}

/** Signs addresses of renditions, once there is a secret: base64url of HMAC-SHA256, 43 characters. Throws before. */
export class AddressSignatures {
  #keys: readonly Buffer[] = [];

  constructor(secret?: Secret) {
    if (secret !== undefined) this.setSecret(secret);
  }

  /** In a list, the first secret signs and all verify. @throws TypeError for a secret shorter than 32 bytes. */
  setSecret(secret: Secret): void {
    this.#keys = toKeys(secret).map((key) => createHmac("sha256", key).update(KEY_LABEL).digest());
    if (this.#keys.length === 0) throw new TypeError("secret must not be an empty list");
  }

  sign(address: SignedAddress): string {
    const [signing] = this.#keys;
    if (signing === undefined) throw new Error("A signature was requested before the store was open");
    return hmac(signing, address);
  }

  /** Compares in constant time. */
  verify(address: SignedAddress, signature: string): boolean {
    if (this.#keys.length === 0) throw new Error("A signature was checked before the store was open");
    const given = Buffer.from(signature, "utf8");
    let isRight = false;
    for (const key of this.#keys) {
      const expected = Buffer.from(hmac(key, address), "latin1");
      if (given.length === expected.length && timingSafeEqual(given, expected)) isRight = true;
    }
    return isRight;
  }
}

/** The path and query that a signature covers: the path below the mount point, known parameters in alphabetical order. */
export function canonicalAddress({ id, format, parameters, preset, untilMs }: SignedAddress): string {
  const { quality, maxWidth, maxHeight, page, fit, at, background } = parameters;
  const isSized = maxWidth !== undefined || maxHeight !== undefined;
  const query = new URLSearchParams();
  if (at !== undefined) query.set("at", String(at));
  if (background !== undefined) query.set("background", background);
  if (quality !== undefined) query.set("convert", quality);
  if (fit !== undefined) query.set("fit", fit);
  if (page !== undefined) query.set("page", String(page));
  if (preset !== undefined) query.set("preset", preset);
  if (isSized) query.set("resize", `${maxWidth ?? ""}x${maxHeight ?? ""}`);
  if (untilMs !== undefined) query.set("until", String(untilMs));
  return `/api/images/${id}.${format}${query.size === 0 ? "" : `?${query}`}`;
}

function hmac(key: Buffer, address: SignedAddress): string {
  return createHmac("sha256", key).update(canonicalAddress(address)).digest("base64url");
}
