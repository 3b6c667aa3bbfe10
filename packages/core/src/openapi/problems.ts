import { statusTitle } from "../http/problem.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { ApiHeader, ApiMedia, ApiResponse } from "./document.ts";
import { HTML } from "./operations.ts";

/** Schema of the body that `problemReply` sends. */
export const PROBLEM_SCHEMA: JsonSchema = {
  type: "object",
  title: "Problem",
  description: "Why a request was rejected (RFC 9457).",
  properties: {
    type: { const: "about:blank" },
    title: { type: "string", description: "The name of the status." },
    status: { type: "integer", minimum: 400, maximum: 599 },
    detail: { type: "string", description: "The error, and how to fix it." },
    code: { type: "string", description: "The kind of error, where the status alone does not tell." },
    instance: { type: "string", description: "Path of the request." },
  },
  required: ["type", "title", "status", "detail", "instance"],
  examples: [
    {
      type: "about:blank",
      title: "Bad Request",
      status: 400,
      detail: "resize takes sides of 1 to 8192 pixels",
      instance: "/api/images/kY3vN0cWQe2l8Zr5tXh1aA.png",
    },
  ],
};

/** The form of a problem: JSON, a line of text, or JSON with an HTML page for clients that prefer one. */
export type ProblemForm = "json" | "text" | "page";

const JSON_PROBLEM: Readonly<Record<string, ApiMedia>> = {
  "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
};
const CONTENT_OF: Readonly<Record<ProblemForm, Readonly<Record<string, ApiMedia>>>> = {
  json: JSON_PROBLEM,
  text: {
    "text/plain": { schema: { type: "string", pattern: "^\\d{3} [^:]+: .+\\n$" } },
  },
  page: { ...JSON_PROBLEM, ...HTML },
};

/** A refusal as an API response. */
export function problemResponse(
  form: ProblemForm,
  status: number,
  description: string,
  headers: Readonly<Record<string, ApiHeader>> = {},
): ApiResponse {
  return {
    description: `${statusTitle(status)}: ${description}`,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: CONTENT_OF[form],
  };
}
