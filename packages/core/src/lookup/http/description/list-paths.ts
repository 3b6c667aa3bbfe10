import type { ApiOperation, ApiParameter, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { type HeaderName, headersOf } from "../../../openapi/headers.ts";
import { queryParameter } from "../../../openapi/parameters.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { MAX_ROWS } from "../../verifications/list-rows.ts";
import { LIST_LIMIT_SCHEMA, LIST_OFFSET_SCHEMA } from "../list-requests.ts";

/** What the paths of lists share with those of look-ups. */
export interface SharedDescription {
  security: NonNullable<ApiOperation["security"]>;
  /** The response for a refusal, by its status. */
  refusal(status: number, why: string, headers?: readonly HeaderName[]): [string, ApiResponse];
  /** The refusals of every request: no TLS, an unexpected error, an unavailable store. */
  always: Readonly<Record<string, ApiResponse>>;
  /** Requests per second; `null`: no limit. */
  requestsPerSecond: number | null;
  otherMethods: ApiResponse;
}

const ID: ApiParameter = {
  name: "id",
  in: "path",
  required: true,
  description: "ID of the list.",
  schema: { type: "string", pattern: "^[A-Za-z0-9_-]{22}$" },
};

const digits = (schema: JsonSchema) => ({
  ...schema,
  description: `${schema.description} In decimal digits.`,
});

/** The paths of lists of addresses that are verified in the background. */
export function listPaths(shared: SharedDescription): Record<string, PathItem> {
  const one = readOperation(shared, {
    operationId: "getVerificationList",
    summary: "Get the results of a list",
    description:
      "A page of the list with the results so far. Lists are kept for 30 days; another account's list answers 404.",
    parameters: [
      queryParameter("limit", digits(LIST_LIMIT_SCHEMA)),
      queryParameter("offset", digits(LIST_OFFSET_SCHEMA)),
    ],
    content: { "application/json": { schema: { $ref: "#/components/schemas/VerificationPage" } } },
  });
  const table = readOperation(shared, {
    operationId: "getVerificationTable",
    summary: "Get the results of a list as CSV",
    description:
      "All rows: the columns of the upload, then those of the results, empty for rows without a result. Formulas get a leading apostrophe, so that no spreadsheet runs them.",
    parameters: [],
    content: { "text/csv": { schema: { type: "string" } } },
    headers: ["Content-Disposition"],
  });
  return {
    "/v2/email-verifications": { post: addOperation(shared), "x-other-methods": shared.otherMethods },
    "/v2/email-verifications/{id}": { ...one, parameters: [ID] },
    "/v2/email-verifications/{id}.csv": { ...table, parameters: [ID] },
  };
}

function addOperation({ security, refusal, always, requestsPerSecond }: SharedDescription): ApiOperation {
  const perSecond =
    requestsPerSecond === null
      ? ""
      : `more than ${requestsPerSecond} requests per second (\`rate_limited\`), or `;
  return {
    operationId: "verifyEmails",
    tags: ["Lookup"],
    summary: "Verify a list of emails",
    description: `Adds a list of at most ${MAX_ROWS} addresses, which are verified in the background. Each costs as much as a single verification; an address beyond the allowance gets the status \`not_paid\` and costs nothing. CSV needs a first line that names the columns, one of them \`email\`; the others are kept.`,
    security,
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: { $ref: "#/components/schemas/VerificationRequest" } },
        "text/csv": { schema: { type: "string" }, example: "email,name\r\nada.lovelace@example.com,Ada\r\n" },
      },
    },
    responses: {
      "202": {
        description: "The list is stored. `Location` is its URL.",
        headers: headersOf("Cache-Control", "Location", "Retry-After"),
        content: { "application/json": { schema: { $ref: "#/components/schemas/VerificationAdded" } } },
      },
      ...Object.fromEntries([
        refusal(
          400,
          "the list is malformed, has no column or no row of addresses, or is over a limit. `details` names the row.",
        ),
        ...keyRefusals(refusal),
        refusal(408, "the body arrives too slowly."),
        refusal(413, "the body is larger than 16 MiB, or than 64 KiB with the test key."),
        refusal(415, "the body is neither text/csv nor application/json in UTF-8."),
        refusal(429, `${perSecond}too many rows in the lists of the last 30 days (\`too_many_requests\`).`, [
          "Retry-After",
        ]),
      ]),
      ...always,
    },
  };
}

interface ReadDescription {
  operationId: string;
  summary: string;
  description: string;
  parameters: readonly ApiParameter[];
  content: NonNullable<ApiResponse["content"]>;
  headers?: readonly HeaderName[];
}

function readOperation(
  { security, refusal, always, requestsPerSecond, otherMethods }: SharedDescription,
  { operationId, summary, description, parameters, content, headers = [] }: ReadDescription,
): PathItem {
  const get: ApiOperation = {
    operationId,
    tags: ["Lookup"],
    summary,
    description,
    parameters,
    security,
    responses: {
      "200": { description: "The list.", headers: headersOf("Cache-Control", ...headers), content },
      ...Object.fromEntries([
        refusal(400, "a parameter is invalid."),
        ...keyRefusals(refusal),
        refusal(404, "there is no such list."),
        ...(requestsPerSecond === null
          ? []
          : [refusal(429, `more than ${requestsPerSecond} requests per second.`, ["Retry-After"])]),
      ]),
      ...always,
    },
  };
  return { get, head: headOf(get), "x-other-methods": otherMethods };
}

function keyRefusals(refusal: SharedDescription["refusal"]): [string, ApiResponse][] {
  return [refusal(401, "no key, or an unknown one.", ["WWW-Authenticate"])];
}
