import { createCipheriv, createDecipheriv, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Secret, toKeys } from "../../secret-bytes.ts";
import type { AddressFormat } from "../record/formats.ts";
import type { ReadParameters } from "./read-parameters.ts";

/** `size`: an exact size, in pages without end. `read`: the permission to read an image, until a time. */
export type SignaturePurpose = "size" | "read";

/** Labels for key derivation. They keep signatures apart from each other, and from PINs, which sign an ID of 22 characters. */
const KEY_LABELS = {
  size: "outrigger image address signature, version 1",
  read: "outrigger image read signature, version 1",
  ticket: "outrigger upload ticket, version 1",
} as const;

type Keys = Readonly<Record<keyof typeof KEY_LABELS, Buffer>>;

/** For tickets, with the sizes of NIST SP 800-38D. */
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

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

/** Signs addresses of renditions, once there is a secret: base64url of HMAC-SHA256, 43 characters; seals tickets. Throws before. */
export class AddressSignatures {
  /** The keys of each purpose, derived from the secrets in their order. */
  #keys: readonly Keys[] = [];
  #storeId = Buffer.alloc(0);

  constructor(secret?: Secret) {
    if (secret !== undefined) this.setSecret(secret);
  }

  /**
   * In a list, the first secret signs and all verify. @throws TypeError for a secret shorter than 32 bytes.
   * @param storeId Only services on this store unseal what is sealed. `null`: it has none.
   */
  setSecret(secret: Secret, storeId: string | null = null): void {
    this.#storeId = Buffer.from(storeId ?? "");
    this.#keys = toKeys(secret).map((key) => {
      const derive = (purpose: keyof Keys) => createHmac("sha256", key).update(KEY_LABELS[purpose]).digest();
      return { size: derive("size"), read: derive("read"), ticket: derive("ticket") };
    });
    if (this.#keys.length === 0) throw new TypeError("secret must not be an empty list");
  }

  sign(address: SignedAddress, purpose: SignaturePurpose = "size"): string {
    return hmac(this.#signing()[purpose], address);
  }

  /** Encrypts and signs a text, as base64url. */
  seal(text: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#signing().ticket, iv).setAAD(this.#storeId);
    const sealed = [iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString("base64url");
  }

  /** @returns the text; `null`: none of the secrets sealed this one. Each sealed text has one spelling. */
  unseal(sealed: string): string | null {
    this.#signing();
    const bytes = Buffer.from(sealed, "base64url");
    if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString("base64url") !== sealed) return null;
    for (const { ticket } of this.#keys) {
      const decipher = createDecipheriv(CIPHER, ticket, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(this.#storeId).setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString("utf8");
      } catch {
        // Sealed with another secret or on another store, or changed.
      }
    }
    return null;
  }

  #signing(): Keys {
    const [signing] = this.#keys;
    if (signing === undefined) throw new Error("A signature was requested before the store was open");
    return signing;
  }

  /** Compares in constant time. @returns what the signature permits; `null`: it is wrong. */
  verify(address: SignedAddress, signature: string): SignaturePurpose | null {
    if (this.#keys.length === 0) throw new Error("A signature was checked before the store was open");
    const given = Buffer.from(signature, "utf8");
    let found: SignaturePurpose | null = null;
    for (const keys of this.#keys) {
      for (const purpose of ["size", "read"] as const) {
        const expected = Buffer.from(hmac(keys[purpose], address), "latin1");
        if (given.length === expected.length && timingSafeEqual(given, expected)) found = purpose;
      }
    }
    return found;
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
