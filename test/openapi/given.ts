import type { ApiParameter } from "../../packages/core/src/openapi/document.ts";
import type { JsonSchema } from "../../packages/core/src/schema/json-schema.ts";
import type { Draft } from "./drafts.ts";
import { isLookup } from "./plain-call.ts";
import type { Schemas } from "./schemas.ts";

/** Whether a call is refused by 400: `null` if another refusal may come first, or prevents it. */
export type Expectation = boolean | null;

/** A query parameter as it arrives; `null`: treated as absent. */
export function given(draft: Draft, name: string): string | null {
  const written = draft.query[name];
  if (written === undefined) return null;
  const text = new URLSearchParams({ [name]: written }).get(name);
  const isAbsent = isLookup(draft.described) ? text?.trim() === "" : text === "";
  return isAbsent ? null : text;
}

export function parameterOf({ described }: Draft, name: string): ApiParameter | undefined {
  return described.parameters.find((each) => each.name === name);
}

/** Whether a text matches a parameter's schema. */
export function fits(schemas: Schemas, schema: JsonSchema, text: string): boolean {
  if (schema.type === "integer") return /^\d+$/.test(text) && schemas.faultOf(schema, Number(text)) === null;
  if (schema.type === "array") return schemas.faultOf(schema, wordsOf(text)) === null;
  return schemas.faultOf(schema, schema.enum === undefined ? text : text.trim().toLowerCase()) === null;
}

function wordsOf(text: string): string[] {
  return text
    .split(",")
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== "");
}
