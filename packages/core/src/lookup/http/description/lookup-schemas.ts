import {
  DEPARTMENTS,
  MAX_LINKED_DOMAINS,
  SENIORITIES,
  VERIFICATION_STATUSES,
} from "../../../contracts/contact-source.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { LOOKUP_PARAMETERS } from "../../operations/parameters.ts";
import { LOOKUP_ERRORS } from "../refusal.ts";

/** The field names of the two networks. */
export interface NetworkNames {
  a: string;
  aUrl: string;
  b: string;
}

const text = typed({ type: ["string", "null"] });
const flag = typed({ type: "boolean" });
const percent = typed({ type: "integer", minimum: 0, maximum: 100 });
const count = typed({ type: "integer", minimum: 0 });
const day = typed({ type: ["string", "null"], format: "date", pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
const RESULTS = ["deliverable", "undeliverable", "risky"];

/** The schemas of a type, each with its description. */
function typed(schema: JsonSchema): (description?: string) => JsonSchema {
  return (description) => (description === undefined ? schema : { ...schema, description });
}

/** An object with all of these properties. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>, description?: string): JsonSchema {
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    properties,
    required: Object.keys(properties),
  };
}

const SOURCES: JsonSchema = {
  type: "array",
  maxItems: 20,
  description: "Pages on which the address was found.",
  items: { $ref: "#/components/schemas/Source" },
};

const SOURCE = objectOf({
  ...{ domain: { type: "string" }, uri: { type: "string" } },
  extracted_on: day("When it was first found on the page."),
  last_seen_on: day("When it was last found on the page."),
  still_on_page: flag("Whether it was still on the page at the last visit; `false` also if that is unknown."),
});

const LATEST_VERDICT = objectOf(
  {
    date: day("When it was verified."),
    status: { enum: [...VERIFICATION_STATUSES, null] },
  },
  "The latest verdict on the address; nulls if it was never verified.",
);

const ERRORS = objectOf(
  {
    errors: {
      type: "array",
      minItems: 1,
      items: objectOf({
        id: { type: "string", enum: LOOKUP_ERRORS, description: "Machine-readable error." },
        code: { type: "integer", minimum: 400, maximum: 599, description: "The status." },
        details: { type: "string", description: "Human-readable message." },
      }),
    },
  },
  "Why a request was rejected.",
);

function networks({ a, aUrl, b }: NetworkNames): Record<string, JsonSchema> {
  return {
    [a]: text("Profile on a professional network."),
    [aUrl]: text("The same as a URL."),
    [b]: text("Handle on a short-message network."),
  };
}

function emailEntry(names: NetworkNames): JsonSchema {
  return objectOf({
    value: { type: "string", description: "The address." },
    type: { type: "string", enum: LOOKUP_PARAMETERS.type.enum },
    confidence: percent("The probability that the address is correct, in percent."),
    sources: SOURCES,
    first_name: text(),
    last_name: text(),
    position: text(),
    seniority: { enum: [...SENIORITIES, null] },
    department: { enum: [...DEPARTMENTS, null] },
    ...networks(names),
    phone_number: text(),
    verification: LATEST_VERDICT,
    position_raw: text("The same as `position`."),
  });
}

/** Facts about an organisation that no source of contacts knows. */
const ORGANIZATION = {
  ...{ description: text(), industry: text(), facebook: text(), instagram: text(), youtube: text() },
  technologies: { type: "array", items: { type: "string" } },
  ...{ country: text(), state: text(), city: text(), postal_code: text(), street: text() },
  ...{ headcount: text(), company_type: text() },
} as const satisfies Readonly<Record<string, JsonSchema>>;

function domain({ a, b }: NetworkNames): JsonSchema {
  return objectOf(
    {
      domain: text("The requested domain; null for an unknown company."),
      webmail: flag("Whether the domain belongs to a public email provider."),
      pattern: {
        ...text("The patterns of its addresses: `{first}`, `{last}`, `{f}`, `{l}` and literal text."),
        examples: ["{first}.{last}"],
      },
      organization: text(),
      emails: { type: "array", maxItems: 100, items: { $ref: "#/components/schemas/EmailEntry" } },
      disposable: flag("Whether addresses at this domain are disposable."),
      accept_all: flag("Whether its server accepts mail for any address, as the last verification found."),
      linked_domains: {
        type: "array",
        maxItems: MAX_LINKED_DOMAINS,
        description: "Other known domains of the organisation, sorted.",
        items: { type: "string" },
      },
      ...ORGANIZATION,
      ...{ [a]: text(), [b]: text() },
    },
    "The facts about the organisation from `description` on are unknown: null, and no technologies.",
  );
}

function person(names: NetworkNames): JsonSchema {
  return objectOf({
    first_name: text(),
    last_name: text(),
    email: text("Null if none is known and no guess is likely enough."),
    score: percent("The probability that the address is correct, in percent; 0 without an address."),
    domain: text(),
    accept_all: flag("Whether its server accepts mail for any address."),
    position: text(),
    ...networks(names),
    phone_number: text(),
    company: text(),
    verification: LATEST_VERDICT,
    sources: SOURCES,
  });
}

const VERIFICATION_PROPERTIES = {
  result: { type: "string", enum: RESULTS },
  status: { type: "string", enum: VERIFICATION_STATUSES, description: "The reason for `result`." },
  score: percent("The probability that mail is delivered, in percent."),
  email: { type: "string" },
  regexp: flag("Whether the address is syntactically valid."),
  gibberish: flag("Whether the local part looks random."),
  disposable: flag(),
  alias: flag("Whether this is a privacy alias, whose mail is forwarded to a mailbox that is read."),
  webmail: flag(),
  mx_records: flag(
    "Whether its domain has mail servers. In this and the following fields, false may also mean not confirmed.",
  ),
  smtp_server: flag("Whether one of the mail servers answered."),
  smtp_check: flag("Whether the mail server accepts mail for the address."),
  accept_all: flag("Whether the mail server accepts mail for any address."),
  block: flag("Whether the mail server rejected the check."),
  reason: text("Why the result is uncertain, why the address was rejected, or why a check was not made."),
  suggestion: text("An address that may have been meant."),
  sources: SOURCES,
} as const satisfies Readonly<Record<string, JsonSchema>>;

const VERIFICATION = objectOf(VERIFICATION_PROPERTIES);

const PENDING = objectOf({
  result: { type: "null" },
  status: { type: "null" },
  score: { type: "null" },
  email: { type: "string" },
});

const each = (names: readonly string[]): JsonSchema =>
  objectOf(Object.fromEntries(names.map((name) => [name, count()])));

const EMAIL_COUNT = objectOf({
  total: count(),
  personal_emails: count(),
  generic_emails: count(),
  department: each(DEPARTMENTS),
  seniority: each(SENIORITIES),
});

const usage = objectOf({ used: count(), available: count() });

const ACCOUNT = objectOf({
  ...{ first_name: text(), last_name: text(), email: text() },
  plan_name: { type: "string" },
  plan_level: count(),
  reset_date: day("When the month's allowance resets."),
  team_id: count("A number that stays the same for the account."),
  calls: { ...usage, description: "Both kinds in total." },
  requests: objectOf({ searches: usage, verifications: usage }),
});

/** The schemas of a lookup with these network field names. */
export function lookupSchemas(names: NetworkNames) {
  return {
    Source: SOURCE,
    EmailEntry: emailEntry(names),
    Domain: domain(names),
    Person: person(names),
    Verification: VERIFICATION,
    PendingVerification: PENDING,
    EmailCount: EMAIL_COUNT,
    Account: ACCOUNT,
    LookupErrors: ERRORS,
  } as const satisfies Readonly<Record<string, JsonSchema>>;
}

/** The name of one of these schemas. */
export type LookupSchemaName = keyof ReturnType<typeof lookupSchemas>;
