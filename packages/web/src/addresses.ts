import { parsedUrl } from "@outrigger/core/values";

/** An address that is safe to put into a page. */
export interface Address {
  /** As given. */
  href: string;
  /**
   * Its origin as a Content-Security-Policy source; `null` for a relative address, or an origin that a policy cannot
   * name.
   */
  source: string | null;
}

// WHATWG URLs allow `;`, `,` and `'` in host names, which would end a directive of the policy.
const POLICY_SOURCE = /^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?$/;

const POLICY_PATH = /^[\w./~%-]*$/;

/**
 * The Content-Security-Policy source for all addresses below an absolute URL that ends with `/`; `null` when a policy
 * cannot name it.
 */
export function pathSource(directory: string): string | null {
  const { origin, pathname } = new URL(directory);
  return POLICY_SOURCE.test(origin) && POLICY_PATH.test(pathname) ? origin + pathname : null;
}

/** An absolute `http:` or `https:` URL; `null` for anything else, such as `javascript:`. */
export function absoluteAddress(value: string): Address | null {
  const url = parsedUrl(value);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  return { href: value, source: POLICY_SOURCE.test(url.origin) ? url.origin : null };
}

/** An absolute http(s) URL, or a reference that stays on the page's own origin (so not `//other.host`). */
export function formAddress(value: string): Address | null {
  const absolute = absoluteAddress(value);
  if (absolute !== null) return absolute;
  const here = "https://page.invalid";
  return parsedUrl(value, here)?.origin === here ? { href: value, source: null } : null;
}

/** The absolute URL with one query parameter set. */
export function withParameter(address: Address, name: string, value: string): string {
  const url = new URL(address.href);
  url.searchParams.set(name, value);
  return url.href;
}
