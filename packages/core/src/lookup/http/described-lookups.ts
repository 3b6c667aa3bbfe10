import { queryParameter } from "../../images/http/description/image-parameters.ts";
import type { ApiParameter } from "../../openapi/document.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { NAME_SCHEMA } from "../names/name-fault.ts";
import { EMAIL_SCHEMA } from "../operations/email-verifier.ts";
import {
  DEPARTMENT_SCHEMA,
  LIMIT_SCHEMA,
  OFFSET_SCHEMA,
  SENIORITY_SCHEMA,
  TYPE_SCHEMA,
} from "../operations/filter-schemas.ts";
import { MAX_DURATION_SCHEMA, TEXT_SCHEMA } from "../operations/given.ts";
import { COMPANY_SCHEMA, DOMAIN_SCHEMA } from "../operations/subject.ts";

/** The schemas that replies consist of. */
export type DataSchemaName =
  | "Domain"
  | "Person"
  | "Verification"
  | "PendingVerification"
  | "EmailCount"
  | "Account";

/** A look-up, as the OpenAPI document describes it. */
export interface DescribedLookup {
  operationId: string;
  summary: string;
  description: string;
  parameters: readonly ApiParameter[];
  /** Of `data`. */
  data: DataSchemaName;
  /** Of `meta`, beside `params`. */
  meta?: Readonly<Record<string, JsonSchema>>;
  /** Of `meta.params`. */
  echo: Readonly<Record<string, JsonSchema>>;
  /** Whether it may be about a suppressed person. */
  mayBeClaimed?: boolean;
  /** Whether an allowance may be used up. */
  isCounted?: boolean;
  /** Of `data`, while the result is not known yet. */
  pending?: DataSchemaName;
}

const text = { type: ["string", "null"] } as const;
const { maxLength } = TEXT_SCHEMA;

const OF_NAMES = "It must have letters, more than single ones, and no digits.";

const DOMAIN = queryParameter("domain", { ...DOMAIN_SCHEMA, maxLength });
const COMPANY = queryParameter("company", { ...COMPANY_SCHEMA, maxLength });
const TYPE = queryParameter("type", withoutCase(TYPE_SCHEMA));
const MAX_DURATION = queryParameter("max_duration", digits(MAX_DURATION_SCHEMA));

export const DESCRIBED_LOOKUPS = {
  "domain-search": {
    operationId: "searchDomain",
    summary: "Addresses of an organisation",
    description:
      "What is known of a domain, with the addresses found for it, the surest first. One of `domain` and `company` is needed. Each ten addresses that are returned, or begun, cost one search; none cost nothing, and so does the same request again in the month. A page that the allowance does not pay for is shortened. `test-api-key` as the key gives a fixed answer and costs nothing.",
    parameters: [
      DOMAIN,
      COMPANY,
      queryParameter("limit", digits(LIMIT_SCHEMA)),
      queryParameter("offset", digits(OFFSET_SCHEMA)),
      TYPE,
      listParameter("seniority", SENIORITY_SCHEMA),
      listParameter("department", DEPARTMENT_SCHEMA),
    ],
    data: "Domain",
    meta: {
      results: { type: "integer", minimum: 0, description: "Addresses on all pages together." },
      limit: { type: "integer", minimum: LIMIT_SCHEMA.minimum, maximum: LIMIT_SCHEMA.maximum },
      offset: { type: "integer", minimum: OFFSET_SCHEMA.minimum },
    },
    echo: {
      ...{ domain: text, company: text, type: text },
      offset: { type: ["integer", "null"] },
      ...{ seniority: text, department: text },
    },
    isCounted: true,
  },
  "email-finder": {
    operationId: "findEmail",
    summary: "The address of a person",
    description:
      "The address of somebody at an organisation, known or worked out. `first_name` and `last_name` are needed, or `full_name`, which is not looked at beside them; and one of `domain` and `company`. An address that is found costs one search.",
    parameters: [
      DOMAIN,
      COMPANY,
      queryParameter("first_name", name("First name.", "Ada")),
      queryParameter("last_name", name("Last name.", "Lovelace")),
      queryParameter("full_name", name("First and last name in one.", "Ada Lovelace")),
      MAX_DURATION,
    ],
    data: "Person",
    echo: { first_name: text, last_name: text, full_name: text, domain: text, company: text },
    mayBeClaimed: true,
    isCounted: true,
  },
  "email-verifier": {
    operationId: "verifyEmail",
    summary: "Whether an address can be delivered to",
    description:
      "Looks at how an address is written, at lists, the DNS and mail servers. What takes longer than `max_duration` is answered by 202: ask the same again. A verification costs one, of webmail, disposable and unknown addresses nothing.",
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
    summary: "How many addresses are known",
    description: "Needs no key and costs nothing. One of `domain` and `company` is needed.",
    parameters: [DOMAIN, COMPANY, TYPE],
    data: "EmailCount",
    echo: { domain: text, company: text, type: text },
  },
  account: {
    operationId: "getAccount",
    summary: "Your account",
    description: "Whose key it is, and what is left of the month's allowance. Costs nothing.",
    parameters: [],
    data: "Account",
    echo: {},
  },
} satisfies Readonly<Record<string, DescribedLookup>>;

function withoutCase(schema: JsonSchema): JsonSchema {
  return { ...schema, description: `${schema.description} Case, and blanks around it, do not matter.` };
}

function digits(schema: JsonSchema): JsonSchema {
  return { ...schema, description: `${schema.description} In decimal digits.` };
}

/** Words between commas. */
function listParameter(name: string, schema: JsonSchema): ApiParameter {
  const description = `${schema.description} Case, blanks around words, and empty words do not matter.`;
  return { ...queryParameter(name, { ...schema, minItems: 1, description }), style: "form", explode: false };
}

function name(description: string, example: string): JsonSchema {
  return { ...NAME_SCHEMA, description: `${description} ${OF_NAMES}`, examples: [example] };
}
