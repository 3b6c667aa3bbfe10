import type { JsonSchema } from "../schema/json-schema.ts";
import type { ApiParameter } from "./document.ts";

/** A query parameter. An empty one counts as absent. */
export function queryParameter(name: string, schema: JsonSchema): ApiParameter {
  const { description = "", ...others } = schema;
  return { name, in: "query", allowEmptyValue: true, description, schema: others };
}

/** A request header. */
export function headerParameter(name: string, description: string, schema: JsonSchema = {}): ApiParameter {
  return { name, in: "header", description, schema: { type: "string", ...schema } };
}
