import { USER_AGENT_SCHEMA } from "../../../http/request-headers.ts";
import type { ApiParameter } from "../../../openapi/document.ts";
import { queryParameter } from "../../../openapi/operations.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import type { AddressFormat } from "../../record/formats.ts";
import {
  DESCRIPTION_SCHEMA,
  expirySchemas,
  type LifetimeLimits,
  NAME_SCHEMA,
  NEVER,
  NEW_NAME_SCHEMA,
} from "../../record/image-fields.ts";
import { POINT_TEXT_SCHEMA } from "../../record/picture-point.ts";
import { presetSchema } from "../../renditions/presets.ts";
import { convertSchema, RENDITION_SCHEMAS } from "../../renditions/read-parameters.ts";
import { MAX_UNTIL_MS } from "../../renditions/read-request.ts";
import { IDEMPOTENCY_KEY_SCHEMA } from "../../uploads/claims.ts";
import type { ImageFacts } from "./image-path.ts";

/** The schemas of the parameters of a rendition, by name, in a query. */
export function renditionSchemas(
  { presets }: ImageFacts,
  format: AddressFormat,
): Readonly<Record<string, JsonSchema>> {
  const convert = convertSchema(format);
  const preset = presetSchema(presets);
  return {
    ...(convert === null ? {} : { convert }),
    ...RENDITION_SCHEMAS,
    ...(preset === null ? {} : { preset }),
  };
}

export const SIGNATURE = [
  queryParameter("s", {
    type: "string",
    pattern: "^[A-Za-z0-9_-]{43}$",
    description: "Signature of the URL, made by the host app.",
  }),
  queryParameter("until", {
    type: "integer",
    minimum: 0,
    maximum: MAX_UNTIL_MS,
    description: "Expiry of the signed URL in Unix milliseconds. The signature covers it.",
  }),
] as const;

export const TICKET = queryParameter("ticket", {
  type: "string",
  description:
    "Permits this upload, by its terms: see `POST /api/tickets.json`. An `Idempotency-Key` has no effect then.",
});

export const NAME = queryParameter("name", NAME_SCHEMA);
export const NEW_NAME = { ...queryParameter("name", NEW_NAME_SCHEMA), allowEmptyValue: false };
export const DESCRIPTION = queryParameter("description", DESCRIPTION_SCHEMA);

/** Describes the expiry in a query, and in a changed record. */
export function expiryText({ maxLifetimeMs }: LifetimeLimits): string {
  const orNever = maxLifetimeMs === null ? `, or \`${NEVER}\`` : "";
  return `When the image expires: an ISO 8601 date with a zone${orNever}.`;
}

/** The query parameter `expiresAt`. */
export function expiresAt(limits: LifetimeLimits): ApiParameter {
  return queryParameter("expiresAt", { ...expirySchemas(limits).query, description: expiryText(limits) });
}

/** Describes the focus of an image. */
export const FOCUS_TEXT =
  "The point that `fit=cover` keeps, in shares of width and height from the top left, rounded to four decimal digits.";
export const FOCUS = queryParameter("focus", { ...POINT_TEXT_SCHEMA, description: FOCUS_TEXT });
export const NEW_FOCUS = { ...FOCUS, description: `${FOCUS_TEXT} An empty value removes it.` };

const REQUEST_HEADERS = {
  "User-Agent": {
    ...{ description: "Its first product and version are shown with the image.", required: true },
    schema: USER_AGENT_SCHEMA,
  },
  Prefer: {
    description:
      "`respond-async` requests an immediate 202; with `wait=<seconds>`, a 202 only if processing takes longer. Unknown preferences are ignored.",
    schema: { examples: ["respond-async", "respond-async, wait=5"] },
  },
  "Idempotency-Key": {
    description:
      "Makes a request safe to repeat: for 24 hours, the same upload with the same key gets the first reply.",
    schema: IDEMPOTENCY_KEY_SCHEMA,
  },
  "If-None-Match":
    "The `ETag` of the client's copy: 304 if unchanged. Takes precedence over `If-Modified-Since`.",
  "If-Modified-Since":
    "The `Last-Modified` of the client's copy: 304 if unchanged. Invalid dates, and dates later than the server's clock, are ignored.",
  "If-Match":
    "The expected `ETag`: 412 if the current one differs. Takes precedence over `If-Unmodified-Since`.",
  "If-Unmodified-Since": "The expected `Last-Modified`: 412 if the image has changed since.",
  Range: {
    description: "A byte range. Invalid or multiple ranges return the whole file.",
    schema: { examples: ["bytes=0-1023"] },
  },
  "If-Range":
    "The `ETag` or `Last-Modified` of the client's partial copy. If it has changed, all bytes are sent.",
} as const satisfies Readonly<Record<string, string | Partial<ApiParameter>>>;

/** Request headers as parameters. */
export function requestHeaders(...names: readonly (keyof typeof REQUEST_HEADERS)[]): ApiParameter[] {
  return names.map((name) => {
    const given: string | Partial<ApiParameter> = REQUEST_HEADERS[name];
    const header = typeof given === "string" ? { description: given } : given;
    return { name, in: "header", ...header, schema: { type: "string", ...header.schema } };
  });
}
