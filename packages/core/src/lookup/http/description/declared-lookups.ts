import type { ApiOperation, ApiParameter, ApiResponse } from "../../../openapi/document.ts";
import { headersOf } from "../../../openapi/headers.ts";
import { jsonReply, queryParameter } from "../../../openapi/operations.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { domainSearch } from "../../operations/domain-search.ts";
import { emailCount } from "../../operations/email-count.ts";
import { emailFinder } from "../../operations/email-finder.ts";
import { emailVerifier } from "../../operations/email-verifier.ts";
import { LOOKUP_PARAMETERS } from "../../operations/parameters.ts";
import { queryName } from "../query.ts";
import { type LookupSchemaName, objectOf } from "./lookup-schemas.ts";

/** An operation without the parts that follow from its route. */
export interface DeclaredLookup
  extends Pick<ApiOperation, "operationId" | "summary" | "description" | "parameters"> {
  /** Replies that are no refusals, by status. */
  replies: Readonly<Record<string, ApiResponse>>;
  /** Refusals that not every operation has, and texts that replace those of every operation. */
  refusals?: Readonly<Record<number, string>>;
  /** Which allowance `too_many_requests` is about. @default the operation has none */
  allowance?: string;
}

type Schemas = Readonly<Record<string, JsonSchema>>;

const SEARCH = schemasOf(domainSearch);
const { limit: _, ...ECHOED_SEARCH } = SEARCH;
const FINDER = schemasOf(emailFinder);
const COUNT = schemasOf(emailCount);
const EMAIL = { email: { type: "string" } } as const;

const MONTH = "the month's allowance is used up";
const OPTED_OUT = { 451: "this person opted out of the lookup." };

/** The operations by their paths below `/v2/`. */
export const DECLARED_LOOKUPS = {
  "domain-search": {
    operationId: "searchDomain",
    summary: "List emails of an organisation",
    description:
      "The known facts about a domain and its addresses, highest confidence first. Either `domain` or `company` is required. Each ten addresses returned, or part of ten, cost one search. An empty result is free, and so is repeating the same request within the month. A page that exceeds the remaining allowance is shortened. `location` is rejected: the data have no locations.",
    parameters: query(SEARCH),
    replies: {
      200: answer("Domain", echoOf(ECHOED_SEARCH), {
        results: { type: "integer", minimum: 0, description: "Number of addresses on all pages." },
        limit: {
          type: "integer",
          minimum: LOOKUP_PARAMETERS.limit.minimum,
          maximum: LOOKUP_PARAMETERS.limit.maximum,
        },
        offset: { type: "integer", minimum: LOOKUP_PARAMETERS.offset.minimum },
      }),
    },
    allowance: MONTH,
  },
  "email-finder": {
    operationId: "findEmail",
    summary: "Find an email",
    description:
      "The address of a person at an organisation, known or guessed. Required are `first_name` and `last_name`, or `full_name`, which is ignored if both others are given; and `domain` or `company`. An address that is found costs one search.",
    parameters: query(FINDER),
    replies: { 200: answer("Person", echoOf(FINDER)) },
    refusals: OPTED_OUT,
    allowance: MONTH,
  },
  "email-verifier": {
    operationId: "verifyEmail",
    summary: "Verify an email",
    description:
      "Checks syntax, known lists, DNS and mail servers. Returns 202 if it takes longer than `max_duration`; repeat the request. Each verification costs one credit; webmail, disposable and unknown results are free, and so is a text that is no address.",
    parameters: query(schemasOf(emailVerifier)),
    replies: {
      200: answer("Verification", EMAIL),
      202: {
        ...answer("PendingVerification", EMAIL),
        description: "The result is pending. Repeat the same request; that costs nothing more.",
        headers: headersOf("Cache-Control", "Retry-After"),
      },
    },
    refusals: OPTED_OUT,
    allowance: MONTH,
  },
  "email-count": {
    operationId: "countEmails",
    summary: "Count emails",
    description: "Needs no key and is free. Either `domain` or `company` is required.",
    parameters: query(COUNT),
    replies: { 200: answer("EmailCount", echoOf(COUNT)) },
  },
  account: {
    operationId: "getAccount",
    summary: "Get account usage",
    description: "The account of the key, with its remaining allowance this month. Free.",
    parameters: [],
    replies: { 200: answer("Account", {}) },
  },
} satisfies Readonly<Record<string, DeclaredLookup>>;

/** The answer of a look-up. @param echo Schemas of `meta.params`. @param meta Schemas of `meta` beside `params`. */
function answer(data: LookupSchemaName | JsonSchema, echo: Schemas, meta: Schemas = {}): ApiResponse {
  const schema = objectOf({
    data: typeof data === "string" ? { $ref: `#/components/schemas/${data}` } : data,
    meta: objectOf({ ...meta, params: objectOf(echo, "The parameters; null if not given.") }),
  });
  return jsonReply("The answer.", schema, "Cache-Control");
}

/** The parameters of an operation by their names in a query. */
function schemasOf({ parameters }: { parameters: readonly (keyof typeof LOOKUP_PARAMETERS)[] }): Schemas {
  return Object.fromEntries(parameters.map((name) => [queryName(name), LOOKUP_PARAMETERS[name]]));
}

/** The parameters, as `meta.params` repeats them. */
function echoOf(schemas: Schemas): Schemas {
  const echoed = Object.entries(schemas).map(([name, { type }]) => [
    name,
    { type: [type === "integer" ? "integer" : "string", "null"] },
  ]);
  return Object.fromEntries(echoed);
}

/** Query parameters, each with a note on how its type is written. */
function query(schemas: Schemas): ApiParameter[] {
  return Object.entries(schemas).map(([name, schema]) => {
    const noted = (note: string) => ({ ...schema, description: `${schema.description} ${note}` });
    if (schema.type === "integer") return queryParameter(name, noted("In decimal digits."));
    if (schema.enum !== undefined) {
      return queryParameter(name, noted("Case and surrounding blanks are ignored."));
    }
    if (name === "email") return { ...queryParameter(name, schema), required: true, allowEmptyValue: false };
    if (schema.type !== "array") return queryParameter(name, schema);
    const words = noted("Case, surrounding blanks and empty words are ignored.");
    return { ...queryParameter(name, { ...words, minItems: 1 }), style: "form", explode: false };
  });
}
