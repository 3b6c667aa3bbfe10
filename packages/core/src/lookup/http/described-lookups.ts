import type { ApiParameter } from "../../openapi/document.ts";
import { queryParameter } from "../../openapi/parameters.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { NAME_SCHEMA } from "../names/name-fault.ts";
import { EMAIL_SCHEMA } from "../operations/email-verifier.ts";
import {
  DEPARTMENT_SCHEMA,
  JOB_TITLES_SCHEMA,
  LIMIT_SCHEMA,
  OFFSET_SCHEMA,
  REQUIRED_FIELD_SCHEMA,
  SENIORITY_SCHEMA,
  TYPE_SCHEMA,
  VERIFICATION_STATUS_SCHEMA,
} from "../operations/filter-schemas.ts";
import { MAX_DURATION_SCHEMA, TEXT_SCHEMA } from "../operations/given.ts";
import { COMPANY_SCHEMA, DOMAIN_SCHEMA } from "../operations/subject.ts";

/** The schemas of reply data. */
export type DataSchemaName =
  | "Domain"
  | "Person"
  | "Verification"
  | "PendingVerification"
  | "EmailCount"
  | "Account";

/** A look-up in the OpenAPI document. */
export interface DescribedLookup {
  operationId: string;
  summary: string;
  description: string;
  parameters: readonly ApiParameter[];
  /** Schema of `data`. */
  data: DataSchemaName;
  /** Schemas of `meta`, besides `params`. */
  meta?: Readonly<Record<string, JsonSchema>>;
  /** Schemas of `meta.params`. */
  echo: Readonly<Record<string, JsonSchema>>;
  /** Whether the answer may concern a suppressed person. */
  mayBeClaimed?: boolean;
  /** Whether the look-up counts against an allowance. */
  isCounted?: boolean;
  /** Schema of `data` while the result is pending. */
  pending?: DataSchemaName;
}

const text = { type: ["string", "null"] } as const;
const { maxLength } = TEXT_SCHEMA;

const OF_NAMES = "It must have letters, not only single ones, and no digits.";

const DOMAIN = queryParameter("domain", { ...DOMAIN_SCHEMA, maxLength });
const COMPANY = queryParameter("company", { ...COMPANY_SCHEMA, maxLength });
const TYPE = queryParameter("type", withoutCase(TYPE_SCHEMA));
const MAX_DURATION = queryParameter("max_duration", digits(MAX_DURATION_SCHEMA));

export const DESCRIBED_LOOKUPS = {
  "domain-search": {
    operationId: "searchDomain",
    summary: "List emails of an organisation",
    description:
      "The known facts about a domain and its addresses, highest confidence first. Either `domain` or `company` is required. Each ten addresses returned, or part of ten, cost one search. An empty result is free, and so is repeating the same request within the month. A page that exceeds the remaining allowance is shortened. `location` is rejected: the data have no locations.",
    parameters: [
      DOMAIN,
      COMPANY,
      queryParameter("limit", digits(LIMIT_SCHEMA)),
      queryParameter("offset", digits(OFFSET_SCHEMA)),
      TYPE,
      listParameter("seniority", SENIORITY_SCHEMA),
      listParameter("department", DEPARTMENT_SCHEMA),
      listParameter("required_field", REQUIRED_FIELD_SCHEMA),
      listParameter("verification_status", VERIFICATION_STATUS_SCHEMA),
      listParameter("job_titles", JOB_TITLES_SCHEMA),
    ],
    data: "Domain",
    meta: {
      results: { type: "integer", minimum: 0, description: "Number of addresses on all pages." },
      limit: { type: "integer", minimum: LIMIT_SCHEMA.minimum, maximum: LIMIT_SCHEMA.maximum },
      offset: { type: "integer", minimum: OFFSET_SCHEMA.minimum },
    },
    echo: {
      domain: text,
      company: text,
      type: text,
      offset: { type: ["integer", "null"] },
      seniority: text,
      department: text,
      required_field: text,
      verification_status: text,
      job_titles: text,
    },
    isCounted: true,
  },
  "email-finder": {
    operationId: "findEmail",
    summary: "Find an email",
    description:
      "The address of a person at an organisation, known or guessed. Required are `first_name` and `last_name`, or `full_name`, which is ignored if both others are given; and `domain` or `company`. An address that is found costs one search.",
    parameters: [
      DOMAIN,
      COMPANY,
      queryParameter("first_name", name("First name.", "Ada")),
      queryParameter("last_name", name("Last name.", "Lovelace")),
      queryParameter("full_name", name("First and last name in one.", "First and last name together.")),
      MAX_DURATION,
    ],
    data: "Person",
    echo: {
      first_name: text,
      last_name: text,
      full_name: text,
      domain: text,
      company: text,
      max_duration: { type: ["integer", "null"] },
    },
    mayBeClaimed: true,
    isCounted: true,
  },
  "email-verifier": {
    operationId: "verifyEmail",
    summary: "Verify an email",
    description:
      "Checks syntax, known lists, DNS and mail servers. Returns 202 if it takes longer than `max_duration`; repeat the request. Each verification costs one credit; webmail, disposable and unknown results are free.",
    parameters: [
      { ...queryParameter("email", { ...EMAIL_SCHEMA, maxLength }), required: true, allowEmptyValue: false },
      MAX_DURATION,
    ],
    data: "Verification",
    echo: { email: { type: "string" } },
    mayBeClaimed: true,
    isCounted: true,
    pending: "PendingVerification",
  },
  "email-count": {
    operationId: "countEmails",
    summary: "Count emails",
    description: "Needs no key and is free. Either `domain` or `company` is required.",
    parameters: [DOMAIN, COMPANY, TYPE],
    data: "EmailCount",
    echo: { domain: text, company: text, type: text },
  },
  account: {
    operationId: "getAccount",
    summary: "Get account usage",
    description: "The account of the key, with its remaining allowance this month. Free.",
    parameters: [],
    data: "Account",
    echo: {},
  },
} satisfies Readonly<Record<string, DescribedLookup>>;

function withoutCase(schema: JsonSchema): JsonSchema {
  return { ...schema, description: `${schema.description} Case and surrounding blanks are ignored.` };
}

function digits(schema: JsonSchema): JsonSchema {
  return { ...schema, description: `${schema.description} In decimal digits.` };
}

/** A list of words separated by commas. */
function listParameter(name: string, schema: JsonSchema): ApiParameter {
  const description = `${schema.description} Case, surrounding blanks and empty words are ignored.`;
  return { ...queryParameter(name, { ...schema, minItems: 1, description }), style: "form", explode: false };
}

function name(description: string, example: string): JsonSchema {
  return { ...NAME_SCHEMA, description: `${description} ${OF_NAMES}`, examples: [example] };
}
