import type { ApiParameter } from "../../../openapi/document.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { EXPIRY_SCHEMAS, NAME_SCHEMA, NEW_NAME_SCHEMA } from "../../record/image-fields.ts";
import { IMAGE_ID_SCHEMA } from "../../record/image-id.ts";
import { MAX_UNTIL_MS } from "../../renditions/read-request.ts";
import { CONVERT_SCHEMA, PAGE_SCHEMA, RESIZE_SCHEMA } from "../../renditions/rendition-spec.ts";

export const ID_PARAMETER: ApiParameter = { name: "id", in: "path", required: true, schema: IMAGE_ID_SCHEMA };

/** A parameter of a query. An empty one counts as left out. */
export function queryParameter(name: string, schema: JsonSchema): ApiParameter {
  const { description = "", ...others } = schema;
  return { name, in: "query", allowEmptyValue: true, description, schema: others };
}

/** A header of a request. */
export function headerParameter(name: string, description: string, schema: JsonSchema = {}): ApiParameter {
  return { name, in: "header", description, schema: { type: "string", ...schema } };
}

export const CONVERT = queryParameter("convert", CONVERT_SCHEMA);
export const RESIZE = queryParameter("resize", RESIZE_SCHEMA);
export const PAGE = queryParameter("page", PAGE_SCHEMA);
export const SIGNATURE = queryParameter("s", {
  type: "string",
  pattern: "^[A-Za-z0-9_-]{43}$",
  description: "The signature of the address, as the host app made it.",
});
export const UNTIL = queryParameter("until", {
  type: "integer",
  minimum: 0,
  maximum: MAX_UNTIL_MS,
  description: "When the signed address ends, in Unix milliseconds; part of what is signed.",
});
export const NAME = queryParameter("name", NAME_SCHEMA);
export const NEW_NAME = { ...queryParameter("name", NEW_NAME_SCHEMA), allowEmptyValue: false };
export const EXPIRES_AT = queryParameter("expiresAt", {
  ...EXPIRY_SCHEMAS.query,
  description: "When the image is to expire: an ISO 8601 date with a zone.",
});

export const IF_NONE_MATCH = headerParameter(
  "If-None-Match",
  "The `ETag` of what you have: 304 where it is the same still. Goes before `If-Modified-Since`.",
);
const IF_MODIFIED_SINCE = headerParameter(
  "If-Modified-Since",
  "The `Last-Modified` of what you have: 304 where it is the same still. What is no HTTP date is ignored.",
);
export const IF_MATCH = headerParameter(
  "If-Match",
  "The `ETag` that is meant: 412 where the present one is another. Goes before `If-Unmodified-Since`.",
);
export const IF_UNMODIFIED_SINCE = headerParameter(
  "If-Unmodified-Since",
  "The `Last-Modified` that is meant: 412 where it has changed since.",
);
export const RANGE = headerParameter(
  "Range",
  "Which bytes to send. Several ranges, and what is none, give the whole.",
  { examples: ["bytes=0-1023"] },
);
export const IF_RANGE = headerParameter(
  "If-Range",
  "The `ETag` or `Last-Modified` of which you have a part: the whole is sent where it has changed.",
);

/** All by which a read depends on what the client has already. */
export const CONDITIONS = [IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_MATCH, IF_UNMODIFIED_SINCE] as const;
