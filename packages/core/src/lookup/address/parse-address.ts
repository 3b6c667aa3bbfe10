import { mailDomain } from "./mail-domain.ts";

/** An address of the grammar of RFC 5321 that mail really uses, and RFC 6531's letters of other scripts before the `@`. */
export interface ParsedAddress {
  /** Before the `@`, in the case in which it was written, in Unicode's form NFC. */
  local: string;
  /** Lower-case A-labels. */
  domain: string;
  /** All in lower case: what {@link normaliseAddress} gives. */
  address: string;
  /** Whether `local` has letters beyond ASCII, so that only servers with SMTPUTF8 (RFC 6531) take mail for it. */
  isInternational: boolean;
}

/** What is wrong with an address: the first of these that holds. */
export type AddressFault =
  /** Longer than anything that is looked at. */
  | "not_an_address"
  /** No `@`, or nothing before it. */
  | "no_local"
  /** `"quoted text"@`: allowed by the standard, used by nobody. */
  | "quoted_local"
  | "local_syntax"
  /** More than 64 octets before the `@`. */
  | "local_length"
  /** `@[192.0.2.1]`. */
  | "address_literal"
  | "domain_syntax"
  /** More than 254 octets in all. */
  | "address_length";

/** Nothing longer is looked at. */
const MAX_TEXT_LENGTH = 512;
const MAX_LOCAL_OCTETS = 64;
const MAX_ADDRESS_OCTETS = 254;

const ASCII_LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
// Beyond ASCII all but controls, formats, lone surrogates, private use and blanks of any script.
const LOCAL =
  /^(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\0-\x7f\p{C}\p{Z}])+(?:\.(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\0-\x7f\p{C}\p{Z}])+)*$/u;
const ASCII = /^[\0-\x7f]*$/;

/** @returns `null` for what is not an address; {@link addressFault} tells why. Never throws. */
export function parseAddress(text: string): ParsedAddress | null {
  const parsed = readAddress(text);
  return typeof parsed === "string" ? null : parsed;
}

/** Why {@link parseAddress} refuses a text; `null` where it does not. */
export function addressFault(text: string): AddressFault | null {
  const parsed = readAddress(text);
  return typeof parsed === "string" ? parsed : null;
}

/** The key of contacts and suppressions: lower case, the domain as A-labels. `null` for what is not an address. */
export function normaliseAddress(text: string): string | null {
  return parseAddress(text)?.address ?? null;
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
    return local.startsWith('"') && local.endsWith('"') ? "quoted_local" : "local_syntax";
  }
  const isInternational = !isAscii && !ASCII.test(local);
  const lower = isInternational ? lowerCase(local) : local.toLowerCase();
  // Some letters take more octets in lower case, some fewer: both are addresses, or neither.
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
