import type { ImageFormat } from "../../../contracts/renderer.ts";
import type { ApiOperation, ApiRequestBody, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { type HeaderName, headersOf, maybeHeader } from "../../../openapi/headers.ts";
import { type JsonSchema, optionalField, optionalText } from "../../../schema/json-schema.ts";
import { FORMATS } from "../../record/formats.ts";
import {
  AT_SCHEMA,
  AT_TEXT_SCHEMA,
  BACKGROUND_SCHEMA,
  FIT_SCHEMA,
} from "../../renditions/crop-parameters.ts";
import { presetSchema } from "../../renditions/presets.ts";
import {
  CONVERT_SCHEMA,
  PAGE_SCHEMA,
  PAGE_TEXT_SCHEMA,
  RESIZE_SCHEMA,
} from "../../renditions/rendition-spec.ts";
import type { ImageFacts } from "./image-facts.ts";
import {
  CONDITIONS,
  CONVERT,
  CROP,
  ID_PARAMETER,
  IF_RANGE,
  PAGE,
  queryParameter,
  RANGE,
  RESIZE,
  SIGNATURE,
  UNTIL,
} from "./image-parameters.ts";
import { everywhere, inOrder, OF_BODIES, OF_LIFE, ofHost, ofLimits, refusals } from "./image-refusals.ts";
import { IMAGE_REF } from "./image-schemas.ts";

/** Headers of every 200 and 206 with an image's bytes. */
export const BYTES_HEADERS = headersOf(
  "ETag",
  "Last-Modified",
  "Cache-Control",
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Security-Policy",
  "Sunset",
);

/** `GET HEAD {base}/api/images/<id>.<suffix>`. @param suffix The format, or an alias of it. */
export function readPath(facts: ImageFacts, format: ImageFormat, suffix: string): PathItem {
  const get = readOperation(facts, format, suffix);
  const head = headOf(get);
  const { "200": found, ...others } = head.responses;
  const unmade = "Absent until the rendition is rendered. HEAD renders nothing.";
  const headers = { ...found?.headers, ...maybeHeader("ETag", unmade) };
  const responses = { "200": { description: "The image.", ...found, headers }, ...others };
  return {
    parameters: [ID_PARAMETER],
    get,
    head: { ...head, responses },
  };
}

function readOperation(facts: ImageFacts, format: ImageFormat, suffix: string): ApiOperation {
  const preset = presetSchema(facts.presets);
  const statuses = inOrder(
    ...[...everywhere(facts), ...ofHost(facts), ...OF_LIFE, ...OF_BODIES, ...ofLimits(facts, "reads")],
    ...([403, 412, 416, 500] as const),
    ...(facts.partialFormats.includes(format) ? ([501] as const) : []),
  );
  const content = { [FORMATS[format].type]: { schema: { type: "string", format: "binary" } } } as const;
  return {
    operationId: `getImageAs${suffix.charAt(0).toUpperCase()}${suffix.slice(1)}`,
    tags: ["Images"],
    summary: `Get as ${suffix.toUpperCase()}`,
    description:
      suffix === "jpeg"
        ? "The same as under `.jpg`."
        : `The image converted to ${FORMATS[format].type}. If it was uploaded as this type and no parameter changes it, the reply is the original.${sizesText(facts)}`,
    parameters: [
      ...(format === "jpg" ? [CONVERT] : []),
      ...[RESIZE, ...CROP, PAGE],
      ...(preset === null ? [] : [queryParameter("preset", preset)]),
      ...[SIGNATURE, UNTIL, ...CONDITIONS, RANGE, IF_RANGE],
    ],
    security: [],
    requestBody: parametersBody(format, preset),
    responses: {
      "200": { description: "The image.", headers: BYTES_HEADERS, content },
      "202": processingResponse(facts.hasPages),
      "206": {
        description: "The bytes that `Range` selects.",
        headers: { ...BYTES_HEADERS, ...headersOf("Content-Range") },
        content,
      },
      "304": notModified("Sunset"),
      ...refusals(facts, "json", statuses, {
        403: "the connection is not secure, this client may not do that, or the URL needs a valid signature that has not expired.",
        415: "the image cannot be rendered in this format, or the media type of the body is not accepted.",
      }),
    },
  };
}

/** Describes the limits on sizes. */
function sizesText({ sizes }: ImageFacts): string {
  if (sizes.needsSignature) return " Any parameter of a rendition needs an address that the host app signed.";
  if (sizes.steps === null) return "";
  return ` A size is rounded up to the next of these steps, in pixels of the longer side: ${sizes.steps.join(", ")}.`;
}

/** The parameters as a JSON object or a form. They take precedence over those of the query. */
function parametersBody(format: ImageFormat, preset: JsonSchema | null): ApiRequestBody {
  const texts: Readonly<Record<string, JsonSchema>> = {
    ...(format === "jpg" ? { convert: optionalText(CONVERT_SCHEMA) } : {}),
    resize: optionalText(RESIZE_SCHEMA),
    fit: optionalText(FIT_SCHEMA),
    at: optionalText(AT_TEXT_SCHEMA),
    background: optionalText(BACKGROUND_SCHEMA),
    page: optionalText(PAGE_TEXT_SCHEMA),
    ...(preset === null ? {} : { preset: optionalText(preset) }),
  };
  const values: Readonly<Record<string, JsonSchema>> = {
    ...(format === "jpg" ? { convert: optionalField(CONVERT_SCHEMA) } : {}),
    resize: optionalField(RESIZE_SCHEMA),
    fit: optionalField(FIT_SCHEMA),
    at: optionalField(AT_SCHEMA),
    background: optionalField(BACKGROUND_SCHEMA),
    page: optionalField({ anyOf: [PAGE_SCHEMA, PAGE_TEXT_SCHEMA] }),
    ...(preset === null ? {} : { preset: optionalField(preset) }),
  };
  return {
    description: "The parameters (alternative to the query), at most 16 KiB.",
    content: {
      "application/json": { schema: { type: "object", properties: values } },
      "application/x-www-form-urlencoded": { schema: { type: "object", properties: texts } },
    },
  };
}

/** The reply of an image that is still processed. */
export function processingResponse(hasHtml: boolean): ApiResponse {
  return {
    description: "The image is still being processed. Retry after `Retry-After` seconds.",
    headers: headersOf("Retry-After", "Cache-Control", "Sunset"),
    content: {
      "application/json": { schema: IMAGE_REF },
      ...(hasHtml ? { "text/html": { schema: { type: "string" } } } : {}),
    },
  };
}

/** 304, with the headers that may have changed nevertheless. */
export function notModified(...more: readonly HeaderName[]): ApiResponse {
  return {
    description: "The client's copy is current.",
    headers: headersOf("ETag", "Last-Modified", "Cache-Control", ...more),
  };
}
