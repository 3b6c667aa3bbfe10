import type { JsonSchema } from "../schema/json-schema.ts";
import type {
  ApiMedia,
  ApiOperation,
  ApiParameter,
  ApiResponse,
  ApiTag,
  SecurityScheme,
} from "./document.ts";
import { type HeaderName, headersOf } from "./headers.ts";

export const HEAD_TAG: ApiTag = {
  name: "Headers only",
  description: "The same requests with HEAD: status and headers of the GET response, without the body.",
};

/** Statuses of GET only: HEAD ignores ranges. */
const ONLY_GET = ["206", "416"];

/** The content of a reply with an HTML page. */
export const HTML: Readonly<Record<string, ApiMedia>> = { "text/html": { schema: { type: "string" } } };

/** A reply with JSON and these headers. */
export function jsonReply(
  description: string,
  schema: JsonSchema,
  ...names: readonly HeaderName[]
): ApiResponse {
  return { description, headers: headersOf(...names), content: { "application/json": { schema } } };
}

/** A key in a header or in the query. */
export function keyScheme(place: "header" | "query", name: string, description: string): SecurityScheme {
  return { type: "apiKey", in: place, name, description };
}

/** A query parameter. An empty one counts as absent. */
export function queryParameter(name: string, schema: JsonSchema): ApiParameter {
  const { description = "", ...others } = schema;
  return { name, in: "query", allowEmptyValue: true, description, schema: others };
}

/** The HEAD operation for the GET operation `operation`. */
export function headOf(operation: ApiOperation): ApiOperation {
  const responses = Object.entries(operation.responses)
    .filter(([status]) => !ONLY_GET.includes(status))
    .map(([status, { content: _content, ...response }]) => [status, response]);
  const { description: _ofBody, ...others } = operation;
  return {
    ...others,
    operationId: `${operation.operationId}Head`,
    tags: [HEAD_TAG.name],
    summary: `${operation.summary} (headers only)`,
    responses: Object.fromEntries(responses),
  };
}
