import { createHmac, timingSafeEqual } from "node:crypto";
import type { ImageFormat } from "../../contracts/renderer.ts";
import { type Secret, toKeys } from "../record/pin.ts";
import type { ReadParameters } from "./rendition-spec.ts";

/** Keys are derived with it, so that no signature can be a PIN. PINs are made of 22 characters. */
const KEY_LABEL = "outrigger image address signature, version 1";

/** What a signature stands for. Everything that an address says about the picture is in it. */
export interface SignedAddress {
  id: string;
  format: ImageFormat;
  /** As they were parsed: equal meanings have one signature, however they were written. */
  parameters: ReadParameters;
  /** Name of a preset. Then there are no parameters. */
  preset?: string | undefined;
  /** Unix milliseconds. */
  untilMs?: number | undefined;
}

/** Signs addresses of renditions: base64url of HMAC-SHA256, 43 characters. */
export interface AddressSignatures {
  sign(address: SignedAddress): string;
  /** Compares in constant time. */
  verify(address: SignedAddress, signature: string): boolean;
}

/** Throws a TypeError for a secret shorter than 32 bytes. Of a list, the first signs and all verify. */
export function createAddressSignatures(secret: Secret): AddressSignatures {
  const keys = toKeys(secret).map((key) => createHmac("sha256", key).update(KEY_LABEL).digest());
  const [signing] = keys;
  if (signing === undefined) throw new TypeError("secret must not be an empty list");
  return {
    sign: (address) => hmac(signing, address),
    verify(address, signature) {
      const given = Buffer.from(signature, "utf8");
      let isRight = false;
      for (const key of keys) {
        const expected = Buffer.from(hmac(key, address), "latin1");
        if (given.length === expected.length && timingSafeEqual(given, expected)) isRight = true;
      }
      return isRight;
    },
  };
}

/** The path below the mount point and the query that a signature covers: known parameters in alphabetical order. */
export function canonicalAddress({ id, format, parameters, preset, untilMs }: SignedAddress): string {
  const { quality, maxWidth, maxHeight, page } = parameters;
  const isSized = maxWidth !== undefined || maxHeight !== undefined;
  const query = new URLSearchParams();
  if (quality !== undefined) query.set("convert", quality);
  if (page !== undefined) query.set("page", String(page));
  if (preset !== undefined) query.set("preset", preset);
  if (isSized) query.set("resize", `${maxWidth ?? ""}x${maxHeight ?? ""}`);
  if (untilMs !== undefined) query.set("until", String(untilMs));
  return `/api/images/${id}.${format}${query.size === 0 ? "" : `?${query}`}`;
}

function hmac(key: Buffer, address: SignedAddress): string {
  return createHmac("sha256", key).update(canonicalAddress(address)).digest("base64url");
}
