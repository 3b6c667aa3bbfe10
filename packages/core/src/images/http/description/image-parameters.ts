import type { ApiOperation, ApiParameter } from "../../../openapi/document.ts";
import { headerParameter, queryParameter } from "../../../openapi/parameters.ts";
import {
  expirySchemas,
  type LifetimeLimits,
  NAME_SCHEMA,
  NEVER,
  NEW_NAME_SCHEMA,
} from "../../record/image-fields.ts";
import { IMAGE_ID_SCHEMA } from "../../record/image-record.ts";
import { POINT_TEXT_SCHEMA } from "../../record/picture-point.ts";
import {
  AT_TEXT_SCHEMA,
  BACKGROUND_SCHEMA,
  FIT_SCHEMA,
  PAGE_SCHEMA,
  RESIZE_SCHEMA,
} from "../../renditions/read-parameters.ts";
import { MAX_UNTIL_MS } from "../../renditions/read-request.ts";

export const ID_PARAMETER: ApiParameter = { name: "id", in: "path", required: true, schema: IMAGE_ID_SCHEMA };

export const RESIZE = queryParameter("resize", RESIZE_SCHEMA);
export const PAGE = queryParameter("page", PAGE_SCHEMA);
export const CROP = [
  queryParameter("fit", FIT_SCHEMA),
  queryParameter("at", AT_TEXT_SCHEMA),
  queryParameter("background", BACKGROUND_SCHEMA),
] as const;
export const SIGNATURE = queryParameter("s", {
  type: "string",
  pattern: "^[A-Za-z0-9_-]{43}$",
  description: "Signature of the URL, made by the host app.",
});
export const UNTIL = queryParameter("until", {
  type: "integer",
  minimum: 0,
  maximum: MAX_UNTIL_MS,
  description: "Expiry of the signed URL in Unix milliseconds. The signature covers it.",
});
export const NAME = queryParameter("name", NAME_SCHEMA);
export const NEW_NAME = { ...queryParameter("name", NEW_NAME_SCHEMA), allowEmptyValue: false };
/** The query parameter `expiresAt`. */
export function expiresAt(limits: LifetimeLimits): ApiParameter {
  const orNever = limits.maxLifetimeMs === null ? `, or \`${NEVER}\`` : "";
  return queryParameter("expiresAt", {
    ...expirySchemas(limits).query,
    description: `When the image expires: an ISO 8601 date with a zone${orNever}.`,
  });
}
/** Describes the focus of an image. */
export const FOCUS_TEXT =
  "The point that `fit=cover` keeps, in shares of width and height from the top left, rounded to four decimal digits.";
export const FOCUS = queryParameter("focus", { ...POINT_TEXT_SCHEMA, description: FOCUS_TEXT });
export const NEW_FOCUS = { ...FOCUS, description: `${FOCUS_TEXT} An empty value removes it.` };

export const IF_NONE_MATCH = headerParameter(
  "If-None-Match",
  "The `ETag` of the client's copy: 304 if unchanged. Takes precedence over `If-Modified-Since`.",
);
const IF_MODIFIED_SINCE = headerParameter(
  "If-Modified-Since",
  "The `Last-Modified` of the client's copy: 304 if unchanged. Invalid dates, and dates later than the server's clock, are ignored.",
);
export const IF_MATCH = headerParameter(
  "If-Match",
  "The expected `ETag`: 412 if the current one differs. Takes precedence over `If-Unmodified-Since`.",
);
export const IF_UNMODIFIED_SINCE = headerParameter(
  "If-Unmodified-Since",
  "The expected `Last-Modified`: 412 if the image has changed since.",
);
export const RANGE = headerParameter(
  "Range",
  "A byte range. Invalid or multiple ranges return the whole file.",
  { examples: ["bytes=0-1023"] },
);
export const IF_RANGE = headerParameter(
  "If-Range",
  "The `ETag` or `Last-Modified` of the client's partial copy. If it has changed, all bytes are sent.",
);

/** `security` of a change: the PIN as a header, in the query, or (the empty one) in the body. */
export const WITH_PIN: ApiOperation["security"] = [{ imagePin: [] }, { imagePinInQuery: [] }, {}];

/** All conditional request headers of a read. */
export const CONDITIONS = [IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_MATCH, IF_UNMODIFIED_SINCE] as const;
