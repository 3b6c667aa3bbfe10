import { statusTitle } from "../../../http/problem.ts";
import { describeApi } from "../../../openapi/describe-api.ts";
import { createDescription, type Description } from "../../../openapi/description.ts";
import type { ApiOperation, ApiPart, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { type HeaderName, headerComponents, headersOf, inlineHeader } from "../../../openapi/headers.ts";
import { VERSION } from "../../../openapi/version.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import type { CheckedOptions, LookupSettings } from "../../lookup-settings.ts";
import type { DescribedLookup } from "../described-lookups.ts";
import { ROUTES } from "../routes.ts";
import { listPaths } from "./list-paths.ts";
import { lookupSchemas, type NetworkNames, objectOf } from "./lookup-schemas.ts";

/** The settings that the description of a lookup depends on. */
interface LookupFacts {
  networkNames: NetworkNames;
  /** Whether connections without TLS may be rejected. */
  requiresTls: boolean;
  /** Whether unexpected failures are passed to the host app. */
  leavesFailures: boolean;
  /** Requests per second; `null`: no limit. */
  requestsPerSecond: number | null;
  /** Whether the key for fixed answers is known. */
  testKey: boolean;
}

/** The description served at `GET {base}/api/openapi.json`. */
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

/** A lookup's part in the description of all services mounted beside it. */
export function describeLookup(settings: LookupSettings, options: CheckedOptions): ApiPart {
  return lookupPart(factsOf(settings, options));
}

function factsOf({ networkNames }: LookupSettings, options: CheckedOptions): LookupFacts {
  return {
    networkNames,
    requiresTls: options.tls !== "off",
    leavesFailures: options.errors === "host",
    requestsPerSecond: options.requestsPerSecond === false ? null : options.requestsPerSecond,
    testKey: options.testKey,
  };
}

function lookupPart(facts: LookupFacts): ApiPart {
  const paths = pathsOf(facts);
  return {
    title: "Email lookup",
    description: description(facts),
    tags: [{ name: "Lookup", description: "Professional email addresses." }],
    paths,
    components: {
      schemas: lookupSchemas(facts.networkNames),
      headers: headerComponents(paths),
      securitySchemes: {
        keyInQuery: { type: "apiKey", in: "query", name: "api_key", description: "The account's key." },
        keyInHeader: {
          type: "apiKey",
          in: "header",
          name: "X-API-KEY",
          description: "The account's key in a header.",
        },
        keyAsBearer: {
          type: "http",
          scheme: "bearer",
          description: "The account's key as `Authorization: Bearer`.",
        },
      },
    },
  };
}

function pathsOf(facts: LookupFacts): Record<string, PathItem> {
  return {
    ...Object.fromEntries(
      ROUTES.flatMap(({ route, isOpen, description }) =>
        description === null ? [] : [[route, lookupPath(facts, { ...description, isOpen })]],
      ),
    ),
    ...listPaths({
      security: KEY,
      refusal: (status, why, headers = []) => refusal(facts, { status, why, headers }),
      always: Object.fromEntries(
        [...(facts.requiresTls ? [FORBIDDEN] : []), UNEXPECTED, UNAVAILABLE].map((each) =>
          refusal(facts, each),
        ),
      ),
      requestsPerSecond: facts.requestsPerSecond,
      otherMethods: OTHER_METHODS,
    }),
  };
}

/** The refusals of the description's own URL. */
function descriptionRefusals(facts: LookupFacts): Record<string, ApiResponse> {
  return Object.fromEntries(
    [...(facts.requiresTls ? [FORBIDDEN] : []), UNAVAILABLE].map((each) => refusal(facts, each)),
  );
}

const OTHER_METHODS: ApiResponse = {
  ...errorResponse(405, "`Allow` lists the methods that the URL supports."),
  headers: { ...inlineHeader("Cache-Control"), ...inlineHeader("Allow") },
};

/** A look-up, and whether it needs no key. */
type Described = DescribedLookup & { isOpen: boolean };

function lookupPath(facts: LookupFacts, lookup: Described): PathItem {
  const { pending: _, ...withoutWork } = { ...lookup, isCounted: false, mayBeClaimed: false };
  const head = headOf(operationOf(facts, withoutWork, false));
  return {
    get: operationOf(facts, lookup),
    head: {
      ...head,
      summary: `${lookup.summary} (check only)`,
      description: "Checks key and parameters without a lookup. Free.",
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
              description: "The result is pending. Repeat the same request; that costs nothing more.",
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
    meta: objectOf({ ...meta, params: objectOf(echo, "The parameters; null if not given.") }),
  });
  return { "application/json": { schema } };
}

interface Refusal {
  status: number;
  why: string;
  headers?: readonly HeaderName[];
}

const FORBIDDEN: Refusal = { status: 403, why: "the connection is not secure." };
const UNEXPECTED: Refusal = { status: 500, why: "an unexpected error occurred." };
const UNAVAILABLE: Refusal = {
  status: 503,
  why: "overload, a failure of the data stores, or the service is shutting down.",
  headers: ["Retry-After"],
};

function refusalsOf(facts: LookupFacts, lookup: Described, doesWork: boolean): Refusal[] {
  const { isOpen, isCounted = false, mayBeClaimed = false } = lookup;
  return [
    { status: 400, why: "a parameter is missing or invalid: `id` says which." },
    ...(isOpen
      ? []
      : [{ status: 401, why: "no key, or an unknown one.", headers: ["WWW-Authenticate"] as const }]),
    ...(facts.requiresTls ? [FORBIDDEN] : []),
    ...(isCounted || facts.requestsPerSecond !== null
      ? [{ status: 429, why: tooMany(facts, isCounted), headers: ["Retry-After"] as const }]
      : []),
    ...(mayBeClaimed ? [{ status: 451, why: "this person opted out of the lookup." }] : []),
    ...(doesWork || !isOpen ? [UNEXPECTED] : []),
    UNAVAILABLE,
  ];
}

function tooMany({ requestsPerSecond }: LookupFacts, isCounted: boolean): string {
  const perSecond = `more than ${requestsPerSecond} requests per second (\`rate_limited\`)`;
  const perMonth = "the month's allowance is used up (`too_many_requests`)";
  if (requestsPerSecond === null) return `${perMonth}.`;
  return isCounted ? `${perSecond}, or ${perMonth}.` : `${perSecond}.`;
}

function refusal({ leavesFailures }: LookupFacts, { status, why, headers }: Refusal): [string, ApiResponse] {
  if (status === 500 && leavesFailures) {
    return ["500", { description: `Internal Server Error: ${why} The host app sends the answer.` }];
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

function description({ requestsPerSecond, testKey }: LookupFacts): string {
  return [
    "## Email lookup",
    "List the emails of an organisation, find the email of a person, and verify emails.",
    "Send the key of an account as `api_key` in the query, as the header `X-API-KEY`, or as `Authorization: Bearer`.",
    testKey ? "With the key `test-api-key`, parameters are checked, and answers are fixed and free." : "",
    "Empty parameters count as absent, unknown ones are ignored, and of a repeated parameter the first value counts. Unknown facts are null.",
    requestsPerSecond === null ? "" : `An account may send ${requestsPerSecond} requests per second.`,
    'Errors use `{"errors": [{"id", "code", "details"}]}`. OPTIONS returns 204 and an unsupported method 405, both with `Allow`.',
  ]
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}
