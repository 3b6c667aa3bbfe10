import { statusTitle } from "../../../http/problem.ts";
import { describeApi } from "../../../openapi/describe-api.ts";
import { createDescription, type Description } from "../../../openapi/description.ts";
import type { ApiOperation, ApiPart, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { HEADER_COMPONENTS, type HeaderName, headersOf } from "../../../openapi/headers.ts";
import { VERSION } from "../../../openapi/version.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import type { CheckedOptions, LookupSettings } from "../../lookup-settings.ts";
import type { DescribedLookup } from "../described-lookups.ts";
import { ROUTES } from "../routes.ts";
import { lookupSchemas, type NetworkNames, objectOf } from "./lookup-schemas.ts";

/** What the description of a lookup depends on. */
interface LookupFacts {
  networkNames: NetworkNames;
  /** Whether connections without TLS may be refused. */
  requiresTls: boolean;
  /** Whether unexpected failures are left to the host app. */
  leavesFailures: boolean;
  /** Requests a second; `null`: no limit. */
  requestsPerSecond: number | null;
}

/** What `GET {base}/api/openapi.json` answers. */
export function createLookupDescription(settings: LookupSettings, options: CheckedOptions): Description {
  const facts = factsOf(settings, options);
  return createDescription(() =>
    describeApi([lookupPart(facts)], {
      version: VERSION,
      refusals: descriptionRefusals(facts),
      otherMethods: OTHER_METHODS,
    }),
  );
}

/** A lookup, for a description of all services that are mounted beside it. */
export function describeLookup(settings: LookupSettings, options: CheckedOptions): ApiPart {
  return lookupPart(factsOf(settings, options));
}

function factsOf({ networkNames }: LookupSettings, options: CheckedOptions): LookupFacts {
  return {
    networkNames,
    requiresTls: options.tls !== "off",
    leavesFailures: options.errors === "host",
    requestsPerSecond: options.requestsPerSecond === false ? null : options.requestsPerSecond,
  };
}

function lookupPart(facts: LookupFacts): ApiPart {
  return {
    title: "Email lookup",
    description: description(facts),
    tags: [{ name: "Lookup", description: "People's professional addresses." }],
    paths: Object.fromEntries(
      ROUTES.flatMap(({ route, isOpen, description }) =>
        description === null ? [] : [[route, lookupPath(facts, { ...description, isOpen })]],
      ),
    ),
    components: {
      schemas: lookupSchemas(facts.networkNames),
      headers: HEADER_COMPONENTS,
      securitySchemes: {
        keyInQuery: { type: "apiKey", in: "query", name: "api_key", description: "The account's key." },
        keyInHeader: {
          type: "apiKey",
          in: "header",
          name: "X-API-KEY",
          description: "The same in a header.",
        },
        keyAsBearer: { type: "http", scheme: "bearer", description: "The same as `Authorization: Bearer`." },
      },
    },
  };
}

/** How the description's own address refuses a request. */
function descriptionRefusals(facts: LookupFacts): Record<string, ApiResponse> {
  return Object.fromEntries(
    [...(facts.requiresTls ? [FORBIDDEN] : []), UNAVAILABLE].map((each) => refusal(facts, each)),
  );
}

const OTHER_METHODS = errorResponse(405, "`Allow` lists the methods that the address permits.", ["Allow"]);

/** A look-up, and whether it needs no key. */
type Described = DescribedLookup & { isOpen: boolean };

function lookupPath(facts: LookupFacts, lookup: Described): PathItem {
  const { pending: _, ...withoutWork } = { ...lookup, isCounted: false, mayBeClaimed: false };
  const head = headOf(operationOf(facts, withoutWork, false));
  return {
    get: operationOf(facts, lookup),
    head: {
      ...head,
      summary: `${lookup.summary}: checks key and parameters`,
      description: "Checks key and parameters, does no work, and costs nothing.",
    },
    "x-other-methods": OTHER_METHODS,
  };
}

function operationOf(facts: LookupFacts, lookup: Described, doesWork = true): ApiOperation {
  const headers = headersOf("Cache-Control");
  return {
    operationId: lookup.operationId,
    tags: ["Lookup"],
    summary: lookup.summary,
    description: lookup.description,
    parameters: lookup.parameters,
    security: lookup.isOpen ? [] : KEY,
    responses: {
      "200": { description: "The answer.", headers, content: answerOf(lookup, lookup.data) },
      ...(lookup.pending === undefined
        ? {}
        : {
            "202": {
              description: "It is not known yet. Ask the same again, which costs nothing more.",
              headers: { ...headers, ...headersOf("Retry-After") },
              content: answerOf(lookup, lookup.pending),
            },
          }),
      ...Object.fromEntries(refusalsOf(facts, lookup, doesWork).map((each) => refusal(facts, each))),
    },
  };
}

const KEY = [{ keyInQuery: [] }, { keyInHeader: [] }, { keyAsBearer: [] }];

function answerOf({ echo, meta }: DescribedLookup, data: string): ApiResponse["content"] & object {
  const schema: JsonSchema = objectOf({
    data: { $ref: `#/components/schemas/${data}` },
    meta: objectOf({ ...meta, params: objectOf(echo, "The parameters, null where they were not given.") }),
  });
  return { "application/json": { schema } };
}

interface Refusal {
  status: number;
  why: string;
  headers?: readonly HeaderName[];
}

const FORBIDDEN: Refusal = { status: 403, why: "the connection is not secure." };
const UNAVAILABLE: Refusal = {
  status: 503,
  why: "overload, trouble with the data, or the service is shutting down.",
  headers: ["Retry-After"],
};

function refusalsOf(facts: LookupFacts, lookup: Described, doesWork: boolean): Refusal[] {
  const { isOpen, isCounted = false, mayBeClaimed = false } = lookup;
  return [
    { status: 400, why: "a parameter is missing or wrong: `id` says which." },
    ...(isOpen
      ? []
      : [{ status: 401, why: "no key, or one that nobody has.", headers: ["WWW-Authenticate"] as const }]),
    ...(facts.requiresTls ? [FORBIDDEN] : []),
    ...(isCounted || facts.requestsPerSecond !== null
      ? [{ status: 429, why: tooMany(facts, isCounted), headers: ["Retry-After"] as const }]
      : []),
    ...(mayBeClaimed ? [{ status: 451, why: "this person asked that nothing be told of them." }] : []),
    ...(doesWork || !isOpen ? [{ status: 500, why: "something unexpected went wrong." }] : []),
    UNAVAILABLE,
  ];
}

function tooMany({ requestsPerSecond }: LookupFacts, isCounted: boolean): string {
  const perSecond = `more than ${requestsPerSecond} requests a second (\`rate_limited\`)`;
  const perMonth = "the month's allowance is used up (`too_many_requests`)";
  if (requestsPerSecond === null) return `${perMonth}.`;
  return isCounted ? `${perSecond}, or ${perMonth}.` : `${perSecond}.`;
}

function refusal({ leavesFailures }: LookupFacts, { status, why, headers }: Refusal): [string, ApiResponse] {
  if (status === 500 && leavesFailures) {
    return ["500", { description: `Internal Server Error: ${why} The answer is the host app's own.` }];
  }
  return [String(status), errorResponse(status, why, headers)];
}

function errorResponse(status: number, why: string, headers: readonly HeaderName[] = []): ApiResponse {
  return {
    description: `${statusTitle(status)}: ${why}`,
    headers: headersOf("Cache-Control", ...headers),
    content: { "application/json": { schema: { $ref: "#/components/schemas/LookupErrors" } } },
  };
}

function description({ requestsPerSecond }: LookupFacts): string {
  return [
    "## Email lookup",
    "Addresses of an organisation, the address of a person, and whether an address can be delivered to.",
    "The key of an account is sent as `api_key` in the query, as the header `X-API-KEY`, or as `Authorization: Bearer`. With `test-api-key` parameters are checked and answers are fixed and free.",
    "Empty parameters are as if left out, unknown ones are ignored, and of a repeated one the first counts. What is not known is null.",
    requestsPerSecond === null ? "" : `An account may send ${requestsPerSecond} requests a second.`,
    'Refusals are `{"errors": [{"id", "code", "details"}]}`. Methods other than GET and HEAD get 405, OPTIONS gets 204, both with `Allow`.',
  ]
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}
