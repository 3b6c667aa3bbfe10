import { domainToASCII, domainToUnicode } from "node:url";
import type { MailLists } from "../../contracts/mail-prober.ts";

const MAX_DOMAIN_LENGTH = 253;
/** Longer texts are rejected unread. */
const MAX_TEXT_LENGTH = 512;

/** At least two labels of letters, digits and inner hyphens, 1 to 63 each. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** A last label that makes browsers, and the resolvers of some systems, parse the name as an IPv4 address. */
const NUMBER_AT_END = /\.(?:[0-9]+|0x[0-9a-f]*)$/;
/**
 * The allowed input characters: the ASCII of the grammar, and all others except blanks and control
 * characters.
 */
const WRITTEN = /^(?:[A-Za-z0-9.-]|[^\0-\x7f\p{Cc}\p{Cs}\p{Z}])+$/u;
const ASCII_WRITTEN = /^[a-z0-9.-]+$/i;

/**
 * Whether a text is a domain in this service's stored form: at least two lower-case A-labels, no IP address.
 */
export function isMailDomain(domain: string): boolean {
  return domain.length <= MAX_DOMAIN_LENGTH && DOMAIN.test(domain) && !NUMBER_AT_END.test(domain);
}

/**
 * The domain part of an address, as lower-case A-labels. `null` for other text: a trailing dot, a port, an IP
 * address or a single label are not accepted.
 */
export function mailDomain(text: string): string | null {
  if (ASCII_WRITTEN.test(text)) {
    const lower = text.toLowerCase();
    if (!isMailDomain(lower)) {
      return null;
    }
    return lower.includes("xn--") ? checkedALabels(lower) : lower;
  }
  // Checked before the conversion, which decodes percent signs, cuts off ports and paths, and rewrites
  // numbers as IPv4 addresses.
  return text.length <= MAX_TEXT_LENGTH && WRITTEN.test(text) ? checkedALabels(text) : null;
}

/**
 * The key of a domain: lower-case A-labels, no trailing dot. `null` for a text that is not a domain of at
 * least two labels: a URL, a name with a port, an IP address.
 */
export function normaliseDomain(text: string): string | null {
  return mailDomain(text.endsWith(".") ? text.slice(0, -1) : text);
}

/**
 * The domain of an organisation as people write it: `https://www.acme.example/team`, `acme.example:8080`, `Ann <ann@acme.example>`
 * and `@acme.example` are `acme.example`. `null` for a text without a domain.
 */
export function organizationDomain(text: string): string | null {
  const [authority = ""] = text
    .trim()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, "")
    .split(/[/?#]/, 1);
  const host = authority
    .slice(authority.lastIndexOf("@") + 1)
    .replace(/[\s>),;]+$/, "")
    .replace(/:\d{1,5}$/, "");
  // `www.example` itself may be a domain.
  return normaliseDomain(host.replace(/^www\./i, "")) ?? normaliseDomain(host);
}

/** Whether the addresses of a domain belong to people of any employer, so that it is no company's. */
export function isPrivateDomain(lists: MailLists | null | undefined, domain: string): boolean {
  return (lists?.isWebmail(domain) || lists?.isDisposable(domain) || lists?.isAlias?.(domain)) ?? false;
}

/** Converts by IDNA (UTS #46). `null` for labels that it rejects, and for a result that is a number. */
function checkedALabels(text: string): string | null {
  const ascii = domainToASCII(text);
  return isMailDomain(ascii) && isDecodable(ascii) ? ascii : null;
}

/**
 * Node 24 and later keep A-labels that cannot be decoded unchanged, in both directions; earlier versions
 * reject them above.
 */
function isDecodable(ascii: string): boolean {
  return !/(?:^|\.)xn--/.test(domainToUnicode(ascii));
}
