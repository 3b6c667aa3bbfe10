import type { JsonSchema } from "../../schema/json-schema.ts";
import { patternOf } from "../../schema/json-schema.ts";
import { normaliseDomain } from "../address/mail-domain.ts";
import { claimedDomain, LookupProblem } from "../http/lookup-problem.ts";
import type { Query } from "../http/query.ts";
import type { LookupContext } from "../lookup-context.ts";

/** Which organisation a look-up is about. */
export interface Subject {
  /** As A-labels; `null` where only the company is given. */
  domain: string | null;
  company: string | null;
  /** As it was written. */
  writtenDomain: string | null;
}

const MIN_COMPANY_LENGTH = 3;

/** The parameter `domain`. */
export const DOMAIN_SCHEMA = {
  type: "string",
  format: "idn-hostname",
  description:
    "Domain of the organisation, as it stands behind the `@` of its addresses. Wins over `company`.",
  examples: ["example.com"],
} as const satisfies JsonSchema;

/** The parameter `company`. */
export const COMPANY_SCHEMA = {
  type: "string",
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
  description: `Name of the organisation, for who does not know its domain: at least ${MIN_COMPANY_LENGTH} characters then.`,
  examples: ["Example"],
} as const satisfies JsonSchema;

const COMPANY = patternOf(COMPANY_SCHEMA);

/** By `domain`, which wins, or `company`. */
export function parseSubject(query: Query): Subject {
  const writtenDomain = query.text("domain");
  const company = query.text("company");
  if (writtenDomain === null && company === null) {
    throw new LookupProblem("wrong_params", "You are missing the domain or the company parameter");
  }
  const domain = writtenDomain === null ? null : normaliseDomain(writtenDomain.trim());
  if (writtenDomain !== null && domain === null) {
    throw new LookupProblem("invalid_domain", "The domain is not valid");
  }
  if (company !== null && !COMPANY.test(company)) {
    throw new LookupProblem("wrong_params", "company must not have control characters");
  }
  if (writtenDomain === null && company !== null && [...company.trim()].length < MIN_COMPANY_LENGTH) {
    throw new LookupProblem("wrong_params", `company must have at least ${MIN_COMPANY_LENGTH} characters`);
  }
  return { domain, company, writtenDomain };
}

/** A domain of which something may be told. */
export interface FoundDomain {
  domain: string;
  /** Whether somebody at it asked to be left out. */
  hasSuppressed: boolean;
}

/** The domain that is meant; `null` for a company that nobody knows. Rejects where its owner asked to be left out. */
export async function findDomain(context: LookupContext, subject: Subject): Promise<FoundDomain | null> {
  const domain = subject.domain ?? (await context.contacts.domainOf(subject.company?.trim() ?? ""));
  if (domain === null) return null;
  const suppressed = await context.suppressions.ofDomain(domain);
  if (suppressed === "all") throw claimedDomain();
  return { domain, hasSuppressed: suppressed === "some" };
}
