import type { DomainFacts } from "../../contracts/contact-source.ts";
import type { EmailFinderAnswer } from "../answers.ts";
import { type FoundAddress, findAddress } from "../find-address.ts";
import type { LookupContext } from "../lookup-context.ts";
import { LookupProblem, type LookupProblemId } from "../lookup-problem.ts";
import { type NameFault, nameFault } from "../names/name-fault.ts";
import { readFullName } from "../names/parse-full-name.ts";
import { type PersonName, plainName } from "../names/plain-name.ts";
import { networkFields, sourceEntry, verificationEntry } from "./entries.ts";
import { type Given, missing, type Parameter, waitMsOf } from "./given.ts";
import type { Found, LookupOperation } from "./operation.ts";
import { SAMPLE_CONTACT, SAMPLE_DOMAIN, SAMPLE_ORGANIZATION } from "./samples.ts";
import { checkSubject, factsOf, findDomain, type Subject, type SubjectParameters } from "./subject.ts";

/**
 * A person at an organisation: `firstName` and `lastName`, or `fullName`, which is ignored if both are given.
 */
export interface EmailFinderParameters extends SubjectParameters {
  firstName?: string;
  lastName?: string;
  fullName?: string;
  /** Maximum time to wait for mail servers, in milliseconds, 3000 to 20,000. @default 10_000 */
  maxDurationMs?: number;
}

type Data = EmailFinderAnswer["data"];
type Params = EmailFinderAnswer["meta"]["params"];

interface EmailFinding extends Subject {
  firstName: string;
  lastName: string;
  /** The names of a reply without a contact. */
  shown: PersonName;
  /** The names as given. */
  given: Record<"firstName" | "lastName" | "fullName", string | null> & { maxDurationMs: number | null };
  waitMs: number;
}

export const emailFinder: LookupOperation<EmailFinding, Data, Params, object> = {
  parameters: ["domain", "company", "firstName", "lastName", "fullName", "maxDurationMs"],

  check(given) {
    const subject = checkSubject(given);
    const name = checkName(given);
    const waitMs = waitMsOf(given);
    const maxDurationMs = given.number("maxDurationMs") === null ? null : waitMs;
    return { ...subject, ...name, given: { ...name.given, maxDurationMs }, waitMs };
  },

  echo: ({ given, writtenDomain, company }) => ({
    first_name: given.firstName,
    last_name: given.lastName,
    full_name: given.fullName,
    domain: writtenDomain,
    company,
    max_duration: given.maxDurationMs === null ? null : given.maxDurationMs / 1000,
  }),

  async work(context, search, account) {
    const target = await findDomain(context, search);
    if (target === null) return describe(context, search, null, null, null);
    const { domain } = target;
    const { firstName, lastName, waitMs } = search;
    const request = ["email-finder", domain, firstName, lastName];
    const quote = await context.meter.quote(account, "searches", request, 1);
    let cost = 0;
    try {
      const facts = await factsOf(context, domain);
      const found = await findAddress(context, {
        ...target,
        patterns: facts?.patterns ?? [],
        firstName,
        lastName,
        waitMs,
        account: account?.id ?? null,
        beforeProbing: quote.hold,
      });
      cost = found === null ? 0 : 1;
      return describe(context, search, domain, found, facts);
    } finally {
      await quote.charge(cost);
    }
  },

  sample: (context, search) =>
    describe(
      context,
      search,
      SAMPLE_DOMAIN,
      {
        address: SAMPLE_CONTACT.address,
        score: SAMPLE_CONTACT.confidence,
        contact: SAMPLE_CONTACT,
        probe: null,
        verification: SAMPLE_CONTACT.verification,
      },
      { organization: SAMPLE_ORGANIZATION, patterns: [] },
    ),
};

function checkName(given: Given) {
  const firstName = given.text("firstName");
  const lastName = given.text("lastName");
  const fullName = given.text("fullName");
  const written = { firstName, lastName, fullName };
  if (firstName !== null && lastName !== null) {
    requireName(given, "invalid_first_name", "firstName", firstName);
    requireName(given, "invalid_last_name", "lastName", lastName);
    const name = { firstName: firstName.trim(), lastName: lastName.trim() };
    return { ...name, shown: name, given: written };
  }
  if (fullName === null) {
    const [first, last, full] = [
      given.nameOf("firstName"),
      given.nameOf("lastName"),
      given.nameOf("fullName"),
    ];
    throw missing(given, `${first} and ${last}, or the ${full}`);
  }
  requireName(given, "invalid_full_name", "fullName", fullName);
  // Some clients encode the blank of a query twice.
  const name = readFullName(fullName.replaceAll(/(?<=\p{L})\+(?=\p{L})/gu, " "));
  if (name === null) {
    throw new LookupProblem(
      "invalid_full_name",
      `${given.nameOf("fullName")} must have a first and a last name; particles before a surname ("von", "de la") are no first name`,
    );
  }
  return { ...name, shown: plainName(name), given: written };
}

const WHY: Record<NameFault, string> = {
  empty: "must not be empty",
  too_long: "must have at most 100 characters",
  control_character: "must not have control characters",
  digits: "must not have digits",
  no_letters: "must have letters",
  single_letters: "must have more than single letters",
};

function requireName(given: Given, id: LookupProblemId, parameter: Parameter, name: string): void {
  const fault = nameFault(name);
  if (fault !== null) throw new LookupProblem(id, `${given.nameOf(parameter)} ${WHY[fault]}`);
}

function describe(
  { settings }: LookupContext,
  search: EmailFinding,
  domain: string | null,
  found: FoundAddress | null,
  facts: DomainFacts | null,
): Found<Data, object> {
  const contact = found?.contact ?? null;
  return {
    data: {
      first_name: contact?.firstName ?? search.shown.firstName,
      last_name: contact?.lastName ?? search.shown.lastName,
      email: found?.address ?? null,
      score: found?.score ?? 0,
      domain: domain ?? search.domain,
      accept_all: (found?.probe?.acceptsAll ?? facts?.acceptsAll) === true,
      position: contact?.position ?? null,
      ...networkFields(contact, settings.networkNames),
      phone_number: contact?.phoneNumber ?? null,
      company: facts?.organization ?? search.company,
      verification: verificationEntry(found?.verification),
      sources: contact?.evidence.map(sourceEntry) ?? [],
    },
    meta: {},
  };
}
