import type { Contact } from "../../contracts/contact-source.ts";
import { type FoundAddress, findAddress } from "../find-address.ts";
import { type LookupErrorId, LookupProblem } from "../http/lookup-problem.ts";
import type { Query } from "../http/query.ts";
import type { LookupContext } from "../lookup-context.ts";
import { type NameFault, nameFault } from "../names/name-fault.ts";
import { parseFullName } from "../names/parse-full-name.ts";
import { parseMaxDuration } from "./duration.ts";
import { networkFields, sourceEntry } from "./entries.ts";
import type { Answer, LookupOperation } from "./operation.ts";
import { SAMPLE_CONTACT, SAMPLE_DOMAIN, SAMPLE_ORGANIZATION } from "./samples.ts";
import { findDomain, parseSubject, type Subject } from "./subject.ts";

interface EmailFinding extends Subject {
  firstName: string;
  lastName: string;
  /** As they were given. */
  given: { firstName: string | null; lastName: string | null; fullName: string | null };
  waitMs: number;
}

export const emailFinder: LookupOperation<EmailFinding> = {
  parse(query) {
    const subject = parseSubject(query);
    return { ...subject, ...parseName(query), waitMs: parseMaxDuration(query) };
  },

  echo: ({ given, writtenDomain, company }) => ({
    first_name: given.firstName,
    last_name: given.lastName,
    full_name: given.fullName,
    domain: writtenDomain,
    company,
  }),

  async work(context, search, account) {
    const { domain = null } = (await findDomain(context, search)) ?? {};
    const { firstName, lastName, waitMs } = search;
    if (domain === null) return answerOf(context, search, null, null, null);
    const request = ["email-finder", domain, firstName, lastName];
    const reservation = await context.meter.reserve(account, "searches", request, 1);
    let cost = 0;
    try {
      const found = await findAddress(context, { domain, firstName, lastName, waitMs });
      cost = found === null ? 0 : 1;
      const facts = await context.contacts.domain(domain);
      return answerOf(context, search, domain, found, facts?.organization ?? null);
    } finally {
      if (!reservation.isRepeat) await reservation.settle(cost);
    }
  },

  sample: (context, search) =>
    answerOf(
      context,
      search,
      SAMPLE_DOMAIN,
      {
        address: SAMPLE_CONTACT.address,
        score: SAMPLE_CONTACT.confidence,
        contact: SAMPLE_CONTACT,
        probe: null,
      },
      SAMPLE_ORGANIZATION,
    ),
};

function parseName(query: Query): Pick<EmailFinding, "firstName" | "lastName" | "given"> {
  const firstName = query.text("first_name");
  const lastName = query.text("last_name");
  const fullName = query.text("full_name");
  const given = { firstName, lastName, fullName };
  if (firstName !== null && lastName !== null) {
    requireName("invalid_first_name", "first_name", firstName);
    requireName("invalid_last_name", "last_name", lastName);
    return { firstName: firstName.trim(), lastName: lastName.trim(), given };
  }
  if (fullName === null) {
    throw new LookupProblem("wrong_params", "You are missing first_name and last_name, or full_name");
  }
  requireName("invalid_full_name", "full_name", fullName);
  const name = parseFullName(fullName);
  if (name === null) {
    throw new LookupProblem("invalid_full_name", "full_name must have a first and a last name");
  }
  return { ...name, given };
}

const WHY: Record<NameFault, string> = {
  empty: "must not be empty",
  too_long: "must have at most 100 characters",
  control_character: "must not have control characters",
  digits: "must not have digits",
  no_letters: "must have letters",
  single_letters: "must have more than single letters",
};

function requireName(id: LookupErrorId, parameter: string, name: string): void {
  const fault = nameFault(name);
  if (fault !== null) throw new LookupProblem(id, `${parameter} ${WHY[fault]}`);
}

function answerOf(
  { settings }: LookupContext,
  search: EmailFinding,
  domain: string | null,
  found: FoundAddress | null,
  organization: string | null,
): Answer {
  const contact: Contact | null = found?.contact ?? null;
  return {
    data: {
      first_name: contact?.firstName ?? search.firstName,
      last_name: contact?.lastName ?? search.lastName,
      email: found?.address ?? null,
      score: found?.score ?? 0,
      domain: domain ?? search.domain,
      accept_all: found?.probe?.acceptsAll === true,
      position: contact?.position ?? null,
      ...networkFields(contact, settings.networkNames),
      phone_number: contact?.phoneNumber ?? null,
      company: organization ?? search.company,
      sources: contact?.evidence.map(sourceEntry) ?? [],
    },
  };
}
