import { DEPARTMENTS, SENIORITIES } from "../../../contracts/contact-source.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { TYPE_SCHEMA } from "../../operations/filter-schemas.ts";
import type { DataSchemaName } from "../described-lookups.ts";
import { LOOKUP_ERRORS } from "../refusal.ts";

/** What the fields of the two networks are called. */
export interface NetworkNames {
  a: string;
  aUrl: string;
  b: string;
}

const text = { type: ["string", "null"] } as const;
const flag = { type: "boolean" } as const;
const percent = { type: "integer", minimum: 0, maximum: 100 } as const;
const count = { type: "integer", minimum: 0 } as const;
const day = { type: "string", format: "date", pattern: "^\\d{4}-\\d{2}-\\d{2}$" } as const;
const STATUSES = ["valid", "invalid", "accept_all", "webmail", "disposable", "unknown"];
const RESULTS = ["deliverable", "undeliverable", "risky"];

/** An object that has all of these. */
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
  domain: { type: "string" },
  uri: { type: "string" },
  extracted_on: { ...day, description: "When it was found there first." },
  last_seen_on: { ...day, description: "When it was found there last." },
  still_on_page: { ...flag, description: "Whether it was there when the page was looked at last." },
});

const ERRORS = objectOf(
  {
    errors: {
      type: "array",
      minItems: 1,
      items: objectOf({
        id: { type: "string", enum: LOOKUP_ERRORS, description: "For programs." },
        code: { type: "integer", minimum: 400, maximum: 599, description: "The status." },
        details: { type: "string", description: "For people." },
      }),
    },
  },
  "Why a request was refused.",
);

function networks({ a, aUrl, b }: NetworkNames): Record<string, JsonSchema> {
  return {
    [a]: { ...text, description: "Profile on a professional network." },
    [aUrl]: { ...text, description: "The same as a URL." },
    [b]: { ...text, description: "Handle on a short-message network." },
  };
}

function emailEntry(names: NetworkNames): JsonSchema {
  return objectOf({
    value: { type: "string", description: "The address." },
    type: { type: "string", enum: TYPE_SCHEMA.enum },
    confidence: { ...percent, description: "That the address is right, in percent." },
    sources: SOURCES,
    first_name: text,
    last_name: text,
    position: text,
    seniority: { enum: [...SENIORITIES, null] },
    department: { enum: [...DEPARTMENTS, null] },
    ...networks(names),
    phone_number: text,
  });
}

function domain(): JsonSchema {
  return objectOf({
    domain: { ...text, description: "Null where nothing is known of it." },
    webmail: { ...flag, description: "Whether anybody can have an address there." },
    disposable: { ...flag, description: "Whether addresses there are thrown away after use." },
    pattern: {
      ...text,
      description: "How addresses are formed there: `{first}`, `{last}`, `{f}`, `{l}` and literal text.",
      examples: ["{first}.{last}"],
    },
    organization: text,
    emails: { type: "array", maxItems: 100, items: { $ref: "#/components/schemas/EmailEntry" } },
  });
}

function person(names: NetworkNames): JsonSchema {
  return objectOf({
    first_name: text,
    last_name: text,
    email: { ...text, description: "Null where nothing can be defended." },
    score: { ...percent, description: "That the address is right, in percent; 0 without one." },
    domain: text,
    accept_all: { ...flag, description: "Whether its server takes mail for any address." },
    position: text,
    ...networks(names),
    phone_number: text,
    company: text,
    sources: SOURCES,
  });
}

const VERIFICATION = objectOf({
  result: { type: "string", enum: RESULTS },
  status: { type: "string", enum: STATUSES, description: "What `result` comes from." },
  score: { ...percent, description: "That mail arrives, in percent." },
  email: { type: "string" },
  regexp: { ...flag, description: "Whether it is written as addresses are." },
  gibberish: { ...flag, description: "Whether it looks made up." },
  disposable: flag,
  webmail: flag,
  mx_records: {
    ...flag,
    description: "Whether its domain has mail servers. All of these: false is also not confirmed.",
  },
  smtp_server: { ...flag, description: "Whether one of them answered." },
  smtp_check: { ...flag, description: "Whether it takes mail for the address." },
  accept_all: { ...flag, description: "Whether it takes mail for any address." },
  block: { ...flag, description: "Whether it refused to say." },
  reason: { ...text, description: "Why it is not certain, or why the address was refused." },
  suggestion: { ...text, description: "An address that may have been meant." },
  sources: SOURCES,
});

const PENDING = objectOf({
  result: { type: "null" },
  status: { type: "null" },
  score: { type: "null" },
  email: { type: "string" },
});

const each = (names: readonly string[]): JsonSchema =>
  objectOf(Object.fromEntries(names.map((name) => [name, count])));

const EMAIL_COUNT = objectOf({
  total: count,
  personal_emails: count,
  generic_emails: count,
  department: each(DEPARTMENTS),
  seniority: each(SENIORITIES),
});

const usage = objectOf({ used: count, available: count });

const ACCOUNT = objectOf({
  first_name: text,
  last_name: text,
  email: text,
  plan_name: { type: "string" },
  plan_level: count,
  reset_date: { ...day, description: "When the month's allowance is renewed." },
  team_id: { type: "string" },
  calls: { ...usage, description: "Of both kinds together." },
  requests: objectOf({ searches: usage, verifications: usage }),
});

/** The schemas of a lookup whose networks are called so. */
export function lookupSchemas(names: NetworkNames) {
  return {
    Source: SOURCE,
    EmailEntry: emailEntry(names),
    Domain: domain(),
    Person: person(names),
    Verification: VERIFICATION,
    PendingVerification: PENDING,
    EmailCount: EMAIL_COUNT,
    Account: ACCOUNT,
    LookupErrors: ERRORS,
  } as const satisfies Record<DataSchemaName | "Source" | "EmailEntry" | "LookupErrors", JsonSchema>;
}
