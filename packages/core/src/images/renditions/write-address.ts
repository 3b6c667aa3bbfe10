import { isDate } from "node:util/types";
import { checkOptions } from "../../check-options.ts";
import type { FoundPlace, ImageFormat, PicturePoint, Quality } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { addressFormatOf } from "../record/formats.ts";
import { imageUrl } from "../record/image-links.ts";
import { isImageId } from "../record/image-record.ts";
import { canonicalAddress, type SignaturePurpose, type SignedAddress } from "./address-signatures.ts";
import { MAX_UNTIL_MS, meantBy, parseAsked, type ReadRules } from "./read-request.ts";

/** The rendition that an address names. */
export interface AddressedRendition {
  /** `auto`: the format that suits each client. Absent: the image URL, which takes no other parameter. */
  format?: ImageFormat | "jpeg" | "auto" | undefined;
  /** `<MaxWidth>x<MaxHeight>`, `<MaxWidth>x` or `x<MaxHeight>`, with sides of 1 to 8192 pixels. */
  resize?: string | undefined;
  /** Quality of a JPEG, also where `auto` results in one. Other formats ignore it. */
  convert?: Quality | undefined;
  /** Page of a PDF, from 1. */
  page?: number | undefined;
  /** How the picture fills the box: inside it, filling it and cut, or inside it with bars. Needs both sides of `resize`. @default "contain" */
  fit?: "contain" | "cover" | "pad" | undefined;
  /** The part that "cover" keeps: shares of width and height from the top left, or found. @default the image's focus, else the centre */
  at?: PicturePoint | FoundPlace | undefined;
  /** Colour of the bars of "pad" and below transparent parts, `rrggbb` or `transparent`. @default "transparent"; white in formats without transparency */
  background?: string | undefined;
  /** Name of a preset from the option `presets`. Replaces the other parameters. */
  preset?: string | undefined;
}

/** The names of a rendition's parameters. Their values are checked like those of a request. */
export const RENDITION_RULES = {
  format: rules.any<AddressedRendition["format"]>(),
  resize: rules.any<AddressedRendition["resize"]>(),
  convert: rules.any<AddressedRendition["convert"]>(),
  page: rules.any<AddressedRendition["page"]>(),
  preset: rules.any<AddressedRendition["preset"]>(),
  fit: rules.any<AddressedRendition["fit"]>(),
  at: rules.any<AddressedRendition["at"]>(),
  background: rules.any<AddressedRendition["background"]>(),
} satisfies Record<keyof AddressedRendition, unknown>;

const ADDRESS_RULES = {
  /** Signs the address. @default true with `until`, and if `sizes` is "signed" and the address needs a signature */
  signed: rules.flag(),
  /**
   * Whether the address permits to read the image: `authorize` then gets a call with `signed: true`. Needs `until`.
   * @default false
   */
  read: rules.flag(),
  /** The address is rejected from this time on: a date, or Unix milliseconds. @default never */
  until: rules.value<Date | number>("a valid Date or Unix milliseconds", (given) => momentOf(given) !== null),
};

export interface AddressOptions extends rules.Options<typeof ADDRESS_RULES> {}

/**
 * Writes the address of an image or a rendition. Throws `bad_request` where a request to the address would answer 400, and
 * a TypeError for an unknown option or one of a wrong type.
 * @param base The mount point, without a trailing slash.
 */
export function writeAddress(
  base: string,
  id: string,
  rendition: AddressedRendition | undefined,
  options: AddressOptions | undefined,
  reads: ReadRules & { now(): number },
): string {
  const given = checkOptions("address", rendition, RENDITION_RULES);
  const { signed, until, read = false } = checkOptions("address", options, ADDRESS_RULES);
  if (signed === false && until !== undefined) {
    throw new TypeError("address: signed must be true or absent beside until, not false");
  }
  if (read && (until === undefined || signed === false)) {
    throw new TypeError("address: read needs until, and signed must be true or absent");
  }
  if (!isImageId(id)) throw new ServiceError("bad_request", "id must be an image ID of 22 characters");
  if (given.format === undefined) {
    if (signed === true || until !== undefined || Object.values(given).some((each) => each !== undefined)) {
      throw new ServiceError("bad_request", "format is required: the image URL has no parameters");
    }
    return imageUrl(base, id);
  }
  const format = addressFormatOf(given.format);
  if (format === undefined) throw new ServiceError("bad_request", `Nothing is served as .${given.format}`);
  const asked = parseAsked(format, (name) => Reflect.get(given, name), reads.presets);
  const untilMs = until === undefined ? undefined : Number(until);
  if (untilMs !== undefined && untilMs <= reads.now()) {
    throw new ServiceError("bad_request", "until has passed already");
  }
  const address: SignedAddress = { id, format, ...meantBy(asked), untilMs };
  return (signed ?? (untilMs !== undefined || (reads.sizes.needsSignature && needsSignature(address))))
    ? signedAddress(base, address, reads, read ? "read" : "size")
    : base + canonicalAddress(address);
}

/**
 * Adds a signature to the absolute address of a rendition if its parameters need one.
 * @param address Address of a format, with or without parameters.
 */
export function resignAddress(base: string, id: string, address: string, reads: ReadRules): string {
  const { pathname, searchParams } = new URL(address);
  const format = addressFormatOf(pathname.slice(pathname.lastIndexOf(".") + 1));
  if (format === undefined) return address;
  const asked = parseAsked(format, (name) => searchParams.get(name), reads.presets);
  const meant: SignedAddress = { id, format, ...meantBy(asked) };
  return needsSignature(meant) ? signedAddress(base, meant, reads, "size") : address;
}

function needsSignature({ parameters }: SignedAddress): boolean {
  return Object.keys(parameters).length > 0;
}

function signedAddress(
  base: string,
  address: SignedAddress,
  { signatures }: ReadRules,
  purpose: SignaturePurpose,
): string {
  const unsigned = canonicalAddress(address);
  return `${base}${unsigned}${unsigned.includes("?") ? "&" : "?"}s=${signatures.sign(address, purpose)}`;
}

function momentOf(given: unknown): number | null {
  const ms = typeof given === "number" || isDate(given) ? Number(given) : Number.NaN;
  return Number.isInteger(ms) && ms >= 0 && ms <= MAX_UNTIL_MS ? ms : null;
}
