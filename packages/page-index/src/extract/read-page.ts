import { isRoleName } from "@outrigger/core/lookup";
import { contactOf, type FoundContact, merge, type Person } from "./found-contact.ts";
import { type Occurrence, type PageLink, PageText } from "./page-text.ts";
import { PeopleFinder } from "./people-finder.ts";
import { fittedName, personName } from "./person-names.ts";
import { ROBOT, readRobotsTag } from "./robots-tag.ts";
import { readStructured } from "./structured-data.ts";

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
/** Further places of an address, and further addresses, are read without the person beside them. */
const MAX_TIMES = 10;
const MAX_PEOPLE = 2000;

/**
 * Reads a page of HTML, as far as a browser without JavaScript would show it. Takes time proportional to its length.
 *
 * @param page Its URL, and the domain whose addresses are read.
 */
export function readPage(html: string, page: { url: URL; domain: string }): PageContent {
  const text = new PageText(html, page.url);
  const tags = readRobotsTag(["robots", ROBOT].map((name) => text.head.meta.get(name) ?? ""));
  const isOwn = (host: string) => host === page.domain || host.endsWith(`.${page.domain}`);
  const url = new URL(
    text.head.canonical !== null && isOwn(text.head.canonical.hostname) ? text.head.canonical : page.url,
  );
  url.hash = url.username = url.password = "";
  const isOwnAddress = (address: string) => isOwn(address.slice(address.lastIndexOf("@") + 1));
  const owned = text.occurrences.filter(({ value }) => isOwnAddress(value));
  const topLevel = page.domain.slice(page.domain.lastIndexOf(".") + 1);
  const isFamilyFirst = /^hu\b/.test(text.language || topLevel);
  const finder = owned.length === 0 ? null : new PeopleFinder(text, isFamilyFirst);
  const structured = readStructured(text.head.data, isFamilyFirst);
  const contacts = new Map<string, FoundContact>();
  for (const contact of structured.contacts) merge(contacts, contact);
  const times = new Map<string, number>();
  for (const occurrence of owned) {
    const time = (times.get(occurrence.value) ?? 0) + 1;
    times.set(occurrence.value, time);
    const isFar = occurrence.isAside || time > MAX_TIMES || times.size > MAX_PEOPLE;
    merge(contacts, contactOf(occurrence.value, personOf(occurrence, isFar ? null : finder)));
  }
  return {
    url,
    isIndexable: !tags.noIndex,
    links: tags.noFollow ? [] : text.links,
    organization: structured.organization ?? (text.head.meta.get("og:site_name")?.trim() || null),
    contacts: [...contacts.values()].filter(({ address }) => isOwnAddress(address)),
    needsScript: text.head.scripts > 0 && text.length < LITTLE_TEXT && text.occurrences.length === 0,
  };
}

function personOf(occurrence: Occurrence, finder: PeopleFinder | null): Person {
  const local = occurrence.value.slice(0, occurrence.value.lastIndexOf("@"));
  const given = occurrence.name === null || isRoleName(local) ? null : personName(occurrence.name);
  const person = finder?.find(occurrence) ?? { name: null, position: null, phone: null, profiles: [] };
  const name = person.name ?? given;
  return { ...person, name: name === null ? null : fittedName(name, local) };
}
