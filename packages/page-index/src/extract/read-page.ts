import { plainAddresses } from "./find-addresses.ts";
import { type PageLink, PageText } from "./page-text.ts";

/** An address on a page, with the person beside it; fields that the page does not show are `null`. */
export interface FoundContact {
  /** In lower case, the domain as A-labels. */
  address: string;
  firstName: string | null;
  lastName: string | null;
  position: string | null;
  /** As written. */
  phoneNumber: string | null;
  /** Profile at LinkedIn or Xing. */
  networkAUrl: string | null;
  /** Handle at X, formerly Twitter, with `@`. */
  networkB: string | null;
  /** Whether the page obfuscates the address. Such addresses are found only with `readHidden`. */
  isHidden: boolean;
}

/** What a page contains. */
export interface PageContent {
  /** `rel=canonical` within the domain, else the URL of the page; without fragment and credentials. */
  url: URL;
  /** `false` if `<meta name=robots>` has `noindex`, `noarchive` or `none`, for all robots or for `outrigger`. */
  isIndexable: boolean;
  /** http(s) links in document order; none with `nofollow` for the page, and none with it of their own. */
  links: PageLink[];
  /** The name that the page gives its organisation; `null` without one. */
  organization: string | null;
  /** Addresses of the domain and its subdomains, each once, in document order. */
  contacts: FoundContact[];
  /** Whether the page shows hardly any text without JavaScript. */
  needsScript: boolean;
}

/** Fewer characters are a frame for a script. */
const LITTLE_TEXT = 200;

/**
 * Reads a page of HTML, as far as a browser without JavaScript would show it. Takes time proportional to its length.
 *
 * @param page Its URL, the domain whose addresses are read, and whether obfuscated addresses are read, too.
 */
export function readPage(html: string, page: { url: URL; domain: string; readHidden: boolean }): PageContent {
  const text = new PageText(html, page.url);
  const robots = `${text.meta.get("robots") ?? ""},${text.meta.get("outrigger") ?? ""}`.toLowerCase();
  const isOwn = (host: string) => host === page.domain || host.endsWith(`.${page.domain}`);
  const url = new URL(text.canonical !== null && isOwn(text.canonical.hostname) ? text.canonical : page.url);
  url.hash = url.username = url.password = "";
  const written = plainAddresses(text.text).map(({ start, address }) => ({ at: start, address }));
  const addresses = new Set(
    [...written, ...text.linked].sort((one, other) => one.at - other.at).map(({ address }) => address),
  );
  return {
    url,
    isIndexable: !/\b(?:noindex|noarchive|none)\b/.test(robots),
    links: /\b(?:nofollow|none)\b/.test(robots) ? [] : text.links,
    organization: text.meta.get("og:site_name")?.trim() || null,
    contacts: [...addresses]
      .filter((address) => isOwn(address.slice(address.lastIndexOf("@") + 1)))
      .map((address) => ({
        address,
        ...{
          firstName: null,
          lastName: null,
          position: null,
          phoneNumber: null,
          networkAUrl: null,
          networkB: null,
        },
        isHidden: false,
      })),
    needsScript: text.scripts > 0 && text.text.trim().length < LITTLE_TEXT && text.linked.length === 0,
  };
}
