import { domainToASCII, domainToUnicode } from "node:url";

const MAX_DOMAIN_LENGTH = 253;
/** Nothing longer is looked at. */
const MAX_TEXT_LENGTH = 512;

/** At least two labels of letters, digits and inner hyphens, 1 to 63 each. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** A last label that makes browsers, and the resolvers of some systems, take the name for an IPv4 address. */
const NUMBER_AT_END = /\.(?:[0-9]+|0x[0-9a-f]*)$/;
/** What a domain is written with: the ASCII of the grammar, and anything beyond ASCII but blanks and controls. */
const WRITTEN = /^(?:[A-Za-z0-9.-]|[^\0-\x7f\p{Cc}\p{Cs}\p{Z}])+$/u;
const ASCII_WRITTEN = /^[a-z0-9.-]+$/i;

/** Whether a text is a domain as this service keeps them: lower-case A-labels, at least two, no IP address. */
export function isMailDomain(domain: string): boolean {
  return domain.length <= MAX_DOMAIN_LENGTH && DOMAIN.test(domain) && !NUMBER_AT_END.test(domain);
}

/**
 * A domain as it is written after an `@`, in lower-case A-labels. `null` for what is none: no trailing dot, no port, no
 * IP address, no single label.
 */
export function mailDomain(text: string): string | null {
  if (ASCII_WRITTEN.test(text)) {
    const lower = text.toLowerCase();
    if (!isMailDomain(lower)) {
      return null;
    }
    return lower.includes("xn--") ? checkedALabels(lower) : lower;
  }
  // Before the conversion, which decodes percent signs, cuts off ports and paths and rewrites numbers as IPv4 addresses.
  return text.length <= MAX_TEXT_LENGTH && WRITTEN.test(text) ? checkedALabels(text) : null;
}

/**
 * The key of a domain: lower-case A-labels, no trailing dot. `null` for what is not a domain with at least two labels: a
 * URL, a name with a port, an IP address.
 */
export function normaliseDomain(text: string): string | null {
  return mailDomain(text.endsWith(".") ? text.slice(0, -1) : text);
}

/** Through IDNA (UTS #46), `null` for labels that it refuses, and for what it makes a number of. */
function checkedALabels(text: string): string | null {
  const ascii = domainToASCII(text);
  return isMailDomain(ascii) && isDecodable(ascii) ? ascii : null;
}

/** Node from 24 on keeps A-labels that decode to nothing as they are, both ways; earlier ones refuse them above. */
function isDecodable(ascii: string): boolean {
  return !/(?:^|\.)xn--/.test(domainToUnicode(ascii));
}
