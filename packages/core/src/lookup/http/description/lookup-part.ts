import { statusTitle } from "../../../http/problem.ts";
import { createDescription, type Description } from "../../../openapi/description.ts";
import type { ApiOperation, ApiPart, ApiResponse } from "../../../openapi/document.ts";
import { type HeaderName, headerComponents, headersOf } from "../../../openapi/headers.ts";
import { keyScheme } from "../../../openapi/operations.ts";
import type { CheckedOptions } from "../../lookup-settings.ts";
import { ROUTES } from "../routes.ts";
import type { DeclaredLookup } from "./declared-lookups.ts";
import { lookupSchemas, type NetworkNames } from "./lookup-schemas.ts";

/** The options that the description of a lookup depends on. */
interface LookupFacts extends Pick<CheckedOptions, "tls" | "errors" | "requestsPerSecond" | "testKey"> {
  networkNames: NetworkNames;
}

/** The description served at `GET {base}/api/openapi.json`. */
export function createLookupDescription(facts: LookupFacts): Description {
  return createDescription(() => ({
    parts: [describeLookup(facts)],
    refusals: refusalsOf(facts, commonRefusals(facts)),
  }));
}

/** A lookup's part in the description of all services mounted beside it. */
export function describeLookup(facts: LookupFacts): ApiPart {
  const paths = Object.fromEntries(
    ROUTES.flatMap(({ route, declared, isOpen }) =>
      declared === null ? [] : [[route, { get: operationOf(facts, declared, isOpen) }]],
    ),
  );
  return {
    title: "Email lookup",
    description: description(facts),
    tags: [{ name: "Lookup", description: "Professional email addresses." }],
    paths,
    components: {
      schemas: lookupSchemas(facts.networkNames),
      headers: headerComponents(paths),
      securitySchemes: {
        keyInQuery: keyScheme("query", "api_key", "The account's key."),
        keyInHeader: keyScheme("header", "X-API-KEY", "The account's key in a header."),
        keyAsBearer: {
          ...{ type: "http", scheme: "bearer" },
          description: "The account's key as `Authorization: Bearer`.",
        },
      },
    },
  };
}

const KEY = [{ keyInQuery: [] }, { keyInHeader: [] }, { keyAsBearer: [] }];

function operationOf(facts: LookupFacts, declared: DeclaredLookup, isOpen: boolean): ApiOperation {
  const { replies, refusals, allowance, ...operation } = declared;
  const { requestsPerSecond } = facts;
  const limits = [
    ...(requestsPerSecond === false
      ? []
      : [
          `more than ${requestsPerSecond} requests per second, so that this one would wait more than two seconds (\`rate_limited\`)`,
        ]),
    ...(allowance === undefined ? [] : [`${allowance} (\`too_many_requests\`)`]),
  ];
  const refused = {
    400: "a parameter is missing or invalid: `id` says which.",
    ...(isOpen ? {} : { 401: "no key, or an unknown one." }),
    ...(limits.length === 0 ? {} : { 429: `${limits.join(", or ")}.` }),
    500: "an unexpected error occurred.",
    ...commonRefusals(facts),
    ...refusals,
  };
  return {
    ...operation,
    tags: ["Lookup"],
    security: isOpen ? [] : KEY,
    responses: { ...replies, ...refusalsOf(facts, refused) },
  };
}

/** The refusals of every URL. */
function commonRefusals({ tls }: LookupFacts): Readonly<Record<number, string>> {
  return {
    ...(tls === "off" ? {} : { 403: "the connection is not secure." }),
    503: "overload, a failure of the data stores, or the service is shutting down.",
  };
}

/** Refusals by status, for their texts. */
function refusalsOf(
  { errors }: LookupFacts,
  texts: Readonly<Record<number, string>>,
): Readonly<Record<string, ApiResponse>> {
  const refused = Object.entries(texts).map(([status, why]) => [
    status,
    status === "500" && errors === "host"
      ? { description: `Internal Server Error: ${why} The host app sends the answer.` }
      : errorReply(
          Number(status),
          why,
          headersOf("Cache-Control", ...(REFUSAL_HEADERS[Number(status)] ?? [])),
        ),
  ]);
  return Object.fromEntries(refused);
}

const REFUSAL_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ["WWW-Authenticate"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

function errorReply(status: number, why: string, headers: NonNullable<ApiResponse["headers"]>): ApiResponse {
  return {
    description: `${statusTitle(status)}: ${why}`,
    headers,
    content: { "application/json": { schema: { $ref: "#/components/schemas/LookupErrors" } } },
  };
}

function description({ requestsPerSecond, testKey }: LookupFacts): string {
  return [
    "## Email lookup",
    "List the emails of an organisation, find the email of a person, and verify emails.",
    "Send the key of an account as `api_key` in the query, as the header `X-API-KEY`, or as `Authorization: Bearer`.",
    testKey ? "With the key `test-api-key`, parameters are checked, and answers are fixed and free." : "",
    "Empty parameters count as absent, unknown ones are ignored, and of a repeated parameter the first value counts. Unknown facts are null.",
    requestsPerSecond === false
      ? ""
      : `An account may send ${requestsPerSecond} requests per second; further ones wait up to two seconds.`,
    "`discover`, `leads`, `leads_lists`, `leads_custom_attributes`, `campaigns`, `sequences`, `reports`, `email-verifications` and all below them answer 501.",
    'Errors use `{"errors": [{"id", "code", "details"}]}`. HEAD checks key and parameters without a lookup, free. OPTIONS returns 204 and an unsupported method 405, both with `Allow`.',
  ]
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}
