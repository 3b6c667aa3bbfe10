import { mailDomain } from "./mail-domain.ts";

/**
 * An address in the subset of RFC 5321 that real mail uses, also with RFC 6531's letters of other scripts
 * before the `@`.
 */
export interface ParsedAddress {
  /** The part before the `@`, in its original case, in Unicode form NFC. */
  local: string;
  /** Lower-case A-labels. */
  domain: string;
  /** The whole address in lower case, as {@link normaliseAddress} returns it. */
  address: string;
  /**
   * Whether `local` has non-ASCII letters, so that only servers with SMTPUTF8 (RFC 6531) accept mail for it.
   */
  isInternational: boolean;
}

/** The fault of an address: the first of these that applies. */
export type AddressFault =
  /** Longer than any text that is parsed. */
  | "not_an_address"
  /** No `@`, or no text before it. */
  | "no_local"
  /** `"quoted text"@`: valid by the standard (RFC 5321), but hardly any server accepts one. It is not probed. */
  | "quoted_local"
  | "local_syntax"
  /** More than 64 octets before the `@`. */
  | "local_length"
  /** `@[192.0.2.1]`. */
  | "address_literal"
  | "domain_syntax"
  /** More than 254 octets in total. */
  | "address_length";

/** Longer texts are rejected unread. */
const MAX_TEXT_LENGTH = 512;
const MAX_LOCAL_OCTETS = 64;
const MAX_ADDRESS_OCTETS = 254;

const ASCII_LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
// Beyond ASCII, all characters except controls, formats, lone surrogates, private use and blanks of any
// script.
const LOCAL =
  /^(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\0-\x7f\p{C}\p{Z}])+(?:\.(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\0-\x7f\p{C}\p{Z}])+)*$/u;
/** RFC 5321 §4.1.2, as long as a local part may be. */
const QUOTED_LOCAL = /^"(?=.{1,62}"$)(?:[ !#-[\]-~]|\\[ -~])*"$/;
const ASCII = /^[\0-\x7f]*$/;

/**
 * @returns `null` for a text that is not an address; {@link addressFault} returns the reason. Never throws.
 */
export function parseAddress(text: string): ParsedAddress | null {
  const parsed = readAddress(text);
  return typeof parsed === "string" ? null : parsed;
}

/** Why {@link parseAddress} rejects a text; `null` if it accepts it. */
export function addressFault(text: string): AddressFault | null {
  const parsed = readAddress(text);
  return typeof parsed === "string" ? parsed : null;
}

/**
 * The key of contacts and suppressions: lower case, the domain as A-labels. `null` for a text that is not an
 * address.
 */
export function normaliseAddress(text: string): string | null {
  return parseAddress(text)?.address ?? null;
}

/**
 * The address without its tag (RFC 5233): `ada@example.com` for `ada+news@example.com`, and any other address
 * unchanged.
 * @param address as {@link normaliseAddress} returns it.
 */
export function mainAddress(address: string): string {
  const plus = address.indexOf("+");
  return plus < 1 ? address : address.slice(0, plus) + address.slice(address.lastIndexOf("@"));
}

function readAddress(text: string): ParsedAddress | AddressFault {
  if (text.length > MAX_TEXT_LENGTH) {
    return "not_an_address";
  }
  const at = text.lastIndexOf("@");
  if (at < 1) {
    return "no_local";
  }
  const written = text.slice(0, at);
  const domainText = text.slice(at + 1);
  const isAscii = ASCII.test(written);
  const local = isAscii ? written : written.normalize("NFC");
  if (!(isAscii ? ASCII_LOCAL : LOCAL).test(local)) {
    return QUOTED_LOCAL.test(local) && mailDomain(domainText) !== null ? "quoted_local" : "local_syntax";
  }
  const isInternational = !isAscii && !ASCII.test(local);
  const lower = isInternational ? lowerCase(local) : local.toLowerCase();
  // Some letters take more octets in lower case, some fewer: both forms must fit.
  const localOctets = isInternational
    ? Math.max(Buffer.byteLength(local), Buffer.byteLength(lower))
    : local.length;
  if (localOctets > MAX_LOCAL_OCTETS) {
    return "local_length";
  }
  if (domainText.startsWith("[")) {
    return "address_literal";
  }
  const domain = mailDomain(domainText);
  if (domain === null) {
    return "domain_syntax";
  }
  if (localOctets + 1 + domain.length > MAX_ADDRESS_OCTETS) {
    return "address_length";
  }
  return { local, domain, address: `${lower}@${domain}`, isInternational };
}

function lowerCase(local: string): string {
  return local.toLowerCase().normalize("NFC");
}
