import type { Account } from "../../contracts/accounts.ts";
import type { Contact } from "../../contracts/contact-source.ts";
import { isPrivateDomain } from "../address/mail-domain.ts";
import type { ParsedAddress } from "../address/parse-address.ts";
import type { CompanyAnswer } from "../answers.ts";
import type { LookupContext } from "../lookup-context.ts";
import { LookupProblem } from "../lookup-problem.ts";
import { checkEmail, type EmailToVerify, requireUnclaimed } from "./email-verifier.ts";
import type { LookupOperation } from "./operation.ts";
import { type CompanyProfile, companyProfile, type PersonProfile, personProfile } from "./profiles.ts";
import { SAMPLE_CONTACT, SAMPLE_DOMAIN, SAMPLE_ORGANIZATION } from "./samples.ts";
import * as subjects from "./subject.ts";

const MAX_ROLE_ADDRESSES = 20;

const ROLE = { ...SAMPLE_CONTACT, address: `info@${SAMPLE_DOMAIN}` };
/** The profiles for the test key, with every fact that contacts can tell. */
export const SAMPLE_COMPANY = companyProfile(SAMPLE_DOMAIN, SAMPLE_ORGANIZATION, [], [ROLE]);
export const SAMPLE_PERSON = personProfile(SAMPLE_CONTACT, SAMPLE_COMPANY);

export const findPerson = byEmail<PersonProfile>("people/find", personAt, SAMPLE_PERSON);

/** Either is `null` if nothing is known of it. */
export const findEmployee = byEmail<{ person: PersonProfile | null; company: CompanyProfile | null }>(
  "combined/find",
  async (context, parsed) => {
    const person = await personAt(context, parsed);
    const found = await subjects.findDomain(context, { ...parsed, company: null, writtenDomain: null });
    const company = await companyAt(context, found);
    return person === null && company === null ? null : { person, company };
  },
  { person: SAMPLE_PERSON, company: SAMPLE_COMPANY },
);

export const findCompany = {
  parameters: ["domain", "company"],
  check: subjects.checkSubject,
  echo: ({ writtenDomain, company }) => ({ domain: writtenDomain, company }),
  async work(context, subject, account) {
    const found = await subjects.findDomain(context, subject);
    const request = ["companies/find", found?.domain];
    const data = await findPaid(context, account, request, () => companyAt(context, found));
    return { data, meta: { domain: data.domain } };
  },
  sample: () => ({ data: SAMPLE_COMPANY, meta: { domain: SAMPLE_DOMAIN } }),
} satisfies LookupOperation<subjects.Subject, CompanyProfile, CompanyAnswer["meta"]["params"], object>;

/** A look-up by `email`. Clients of the public API read `meta.email`. */
function byEmail<D>(
  name: string,
  find: (context: LookupContext, parsed: ParsedAddress) => Promise<D | null>,
  sample: D,
): LookupOperation<Omit<EmailToVerify, "waitMs">, D, { email: string }, { email: string }> {
  return {
    parameters: ["email"],
    check: checkEmail,
    echo: ({ email }) => ({ email }),
    async work(context, { parsed }, account) {
      if (parsed === null) throw unknown();
      await requireUnclaimed(context, parsed.address);
      const data = await findPaid(context, account, [name, parsed.address], () => find(context, parsed));
      return { data, meta: { email: parsed.address } };
    },
    sample: (_, { email, parsed }) => ({ data: sample, meta: { email: parsed?.address ?? email } }),
  };
}

/** Costs one search; nothing if it rejects with `not_found`. */
async function findPaid<D>(
  { meter }: LookupContext,
  account: Account | null,
  request: readonly unknown[],
  find: () => Promise<D | null>,
): Promise<D> {
  const quote = await meter.quote(account, "searches", request, 1);
  const found = await find();
  if (found === null) throw unknown();
  await quote.charge(1);
  return found;
}

function unknown(): LookupProblem {
  return new LookupProblem("not_found", "Nothing is known about this address or domain");
}

/** `null` for an unknown address, a role address, and an address without any other fact. */
async function personAt(
  context: LookupContext,
  { address, domain }: ParsedAddress,
): Promise<PersonProfile | null> {
  const { contacts } = context;
  const contact = await contacts.find(address);
  if (contact === null || contact.type === "generic") return null;
  const { firstName, lastName, position, department, seniority, phoneNumber } = contact;
  const facts = [firstName, lastName, position, department, seniority, phoneNumber];
  const { networkA, networkAUrl, networkB } = contact;
  if ([...facts, networkA, networkAUrl, networkB].every((fact) => fact === null)) return null;
  if (isPrivateDomain(context.lists, domain)) return personProfile(contact, null);
  return personProfile(contact, {
    domain,
    name: (await subjects.factsOf(context, domain))?.organization ?? null,
  });
}

/** `null` for a provider of email, and for a domain with neither an organisation nor a role address. */
async function companyAt(
  context: LookupContext,
  found: subjects.FoundDomain | null,
): Promise<CompanyProfile | null> {
  if (found === null || isPrivateDomain(context.lists, found.domain)) return null;
  const facts = await subjects.factsOf(context, found.domain);
  if (facts === null) return null;
  const contacts = await roleAddresses(context, found);
  const roles = contacts.filter(({ verification }) => verification?.status !== "invalid");
  if (facts.organization === null && roles.length === 0) return null;
  const linked = await subjects.unsuppressedLinks(context, facts);
  return companyProfile(found.domain, facts.organization, linked, roles);
}

async function roleAddresses(context: LookupContext, found: subjects.FoundDomain): Promise<Contact[]> {
  const { total } = await context.contacts.count(found.domain, "generic");
  if (total === 0) return [];
  // A search for more of them than there are reads the whole domain.
  const page = { limit: Math.min(total, MAX_ROLE_ADDRESSES), offset: 0 };
  return (await subjects.searchUnsuppressed(context, found, { type: "generic" }, page)).contacts;
}
