import type { JsonSchema } from "../schema/json-schema.ts";
import type { ApiMedia, ApiParameter, ApiResponse, SecurityScheme } from "./document.ts";
import { type HeaderName, headersOf } from "./headers.ts";

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
