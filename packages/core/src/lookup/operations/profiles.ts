import { hash } from "node:crypto";
import type { Contact } from "../../contracts/contact-source.ts";
import { percentDecoded } from "../address/parse-mailboxes.ts";

// Facts that contacts do not tell, in the fields that clients of enrichment services read.
const NONE: string[] = [];
const HANDLE = { handle: null };
const FOLLOWED = { ...HANDLE, id: null, followers: null, following: null };
const ACCOUNT = { ...FOLLOWED, bio: null, location: null, site: null, avatar: null };
const GEO = {
  city: null,
  state: null,
  stateCode: null,
  country: null,
  countryCode: null,
  lat: null,
  lng: null,
};
const SOMEWHERE = { location: null, timeZone: null, utcOffset: null };
const STREET = {
  streetNumber: null,
  streetName: null,
  subPremise: null,
  streetAddress: null,
  postalCode: null,
};
const SECTOR = { sector: null, industryGroup: null, industry: null, subIndustry: null };
const CODES = { sicCode: null, sic4Codes: NONE, naicsCode: null, naics6Codes: NONE, naics6Codes2022: NONE };
const RANKS = { alexaUsRank: null, alexaGlobalRank: null, trafficRank: null };
const SIZE = { employees: null, employeesRange: null, marketCap: null, raised: null };
const REVENUE = { annualRevenue: null, estimatedAnnualRevenue: null, fiscalYearEnd: null };

/** A public profile with numbers behind the name (`/pub/ada/12/345`) has no handle. */
const LINKEDIN =
  /^(?:https?:\/\/)?(?:[a-z0-9-]+\.)*linkedin\.com\/(?:in|pub(?=\/[^/?#]+\/?(?:[?#]|$)))\/([^\s/?#]+)/i;
const XING = /^(?:https?:\/\/)?(?:[a-z0-9-]+\.)*xing\.com(?:\/|$)/i;

/**
 * A person, by the contact. `linkedin` and `twitter` are the names in usual clients, whatever the networks are called
 * elsewhere. @param employer `null` if the address does not tell it.
 */
export function personProfile(contact: Contact, employer: { domain: string; name: string | null } | null) {
  const { address, firstName, lastName, position, department, seniority, verification } = contact;
  const names = [firstName, lastName].filter((name) => name !== null);
  const handle = contact.networkB?.replace(/^@/, "") ?? null;
  return {
    id: idOf(address),
    name: { fullName: names.join(" ") || null, givenName: firstName, familyName: lastName },
    email: address,
    ...{ ...SOMEWHERE, geo: GEO, bio: null, site: null, avatar: null },
    employment: {
      ...{ domain: employer?.domain ?? null, name: employer?.name ?? null },
      ...{ title: position, role: department, subRole: null, seniority },
    },
    ...{ facebook: HANDLE, github: { ...FOLLOWED, avatar: null, company: null, blog: null } },
    twitter: { ...ACCOUNT, handle, statuses: null, favorites: null },
    linkedin: { handle: linkedinHandle(contact) },
    ...{ googleplus: HANDLE, gravatar: { ...HANDLE, urls: NONE, avatar: null, avatars: NONE } },
    ...{ fuzzy: false, emailProvider: null },
    /** When a page last showed the address: `YYYY-MM-DD`, UTC. */
    indexedAt: contact.evidence[0]?.lastSeenOn ?? null,
    phone: contact.phoneNumber,
    /** When a verification last found the mailbox, or found that there is none: `YYYY-MM-DD`, UTC. */
    activeAt: verification?.status === "valid" ? verification.date : null,
    inactiveAt: verification?.status === "invalid" ? verification.date : null,
  };
}

function linkedinHandle({ networkA, networkAUrl }: Contact): string | null {
  for (const text of [networkAUrl, networkA]) {
    const name = LINKEDIN.exec(text ?? "")?.[1];
    if (name !== undefined) return percentDecoded(name);
  }
  const isElsewhere = XING.test(networkAUrl ?? "") || /[/:]/.test(networkA ?? "");
  return isElsewhere ? null : (networkA?.replace(/^@/, "") ?? null);
}

/** A company, by the contacts of its domain. @param roles those with role addresses, such as `info@`. */
export function companyProfile(
  domain: string,
  name: string | null,
  domainAliases: string[],
  roles: readonly Contact[],
) {
  const phoneNumbers = [...new Set(roles.flatMap(({ phoneNumber }) => phoneNumber ?? []))];
  return {
    ...{ id: idOf(domain), name, legalName: null, domain, domainAliases },
    site: { phoneNumbers, emailAddresses: roles.map(({ address }) => address) },
    category: { ...SECTOR, gicsCode: null, ...CODES },
    ...{
      tags: NONE,
      description: null,
      foundedYear: null,
      ...SOMEWHERE,
      geo: { ...STREET, ...GEO },
      logo: null,
    },
    ...{ facebook: { ...HANDLE, likes: null }, linkedin: HANDLE, twitter: ACCOUNT, crunchbase: HANDLE },
    ...{ instagram: HANDLE, youtube: HANDLE, emailProvider: null, type: null, company_type: null },
    ...{ ticker: null, identifiers: { usEIN: null, usCIK: null }, phone: phoneNumbers[0] ?? null },
    metrics: { ...RANKS, ...SIZE, ...REVENUE },
    ...{ indexedAt: null, tech: NONE, techCategories: NONE, fundingRounds: NONE },
    ...{ parent: { domain: null }, ultimateParent: { domain: null } },
  };
}

/** What contacts tell about a person. */
export type PersonProfile = ReturnType<typeof personProfile>;
/** What contacts tell about a company. */
export type CompanyProfile = ReturnType<typeof companyProfile>;

/** An ID that stays the same: a UUID of version 8 (RFC 9562) made of a digest. */
function idOf(subject: string): string {
  const hex = hash("sha256", subject, "hex");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-a$4-$5");
}
