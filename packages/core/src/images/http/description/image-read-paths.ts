import type { ImageFormat } from "../../../contracts/renderer.ts";
import type { ApiOperation, ApiRequestBody, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { type HeaderName, headersOf, maybeHeader } from "../../../openapi/headers.ts";
import { type JsonSchema, optionalField, optionalText } from "../../../schema/json-schema.ts";
import { FORMATS } from "../../record/formats.ts";
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

/** Headers of every 200 and 206 with a user's bytes. */
export const BYTES_HEADERS = headersOf(
  "ETag",
  "Last-Modified",
  "Cache-Control",
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Security-Policy",
  "Sunset",
);

/** `GET HEAD {base}/api/images/<id>.<suffix>`. @param suffix the format, or another name of it. */
export function readPath(facts: ImageFacts, format: ImageFormat, suffix: string): PathItem {
  const get = readOperation(facts, format, suffix);
  const head = headOf(get);
  const { "200": found, ...others } = head.responses;
  const unmade = "Absent while the rendition is not made: HEAD makes none.";
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
    summary: `The image as ${suffix.toUpperCase()}`,
    description:
      suffix === "jpeg"
        ? "The same as under `.jpg`."
        : `Whatever was uploaded, as ${FORMATS[format].type}. Where that is what it is, and nothing is to change, the bytes that were uploaded.${sizesText(facts)}`,
    parameters: [
      ...(format === "jpg" ? [CONVERT] : []),
      ...[RESIZE, PAGE],
      ...(preset === null ? [] : [queryParameter("preset", preset)]),
      ...[SIGNATURE, UNTIL, ...CONDITIONS, RANGE, IF_RANGE],
    ],
    requestBody: parametersBody(format, preset),
    responses: {
      "200": { description: "The image.", headers: BYTES_HEADERS, content },
      "202": processingResponse(facts.hasPages),
      "206": {
        description: "The part that `Range` asks for.",
        headers: { ...BYTES_HEADERS, ...headersOf("Content-Range") },
        content,
      },
      "304": notModified("Sunset"),
      ...refusals(facts, "json", statuses, {
        403: "the connection is not secure, this client may not do that, or the address needs a signature that is right and has not ended.",
        415: "the image cannot be drawn in this format, or the body has a media type that is not taken here.",
      }),
    },
  };
}

/** What is not served in any size. */
function sizesText({ sizes }: ImageFacts): string {
  if (sizes.needsSignature)
    return " `resize`, `convert` and `page` need an address that the host app signed.";
  if (sizes.steps === null) return "";
  return ` A size comes as the next larger of these, in pixels of the longer side: ${sizes.steps.join(", ")}.`;
}

/** The parameters as a JSON object or a form, which go before those of the query. */
function parametersBody(format: ImageFormat, preset: JsonSchema | null): ApiRequestBody {
  const texts: Readonly<Record<string, JsonSchema>> = {
    ...(format === "jpg" ? { convert: optionalText(CONVERT_SCHEMA) } : {}),
    resize: optionalText(RESIZE_SCHEMA),
    page: optionalText(PAGE_TEXT_SCHEMA),
    ...(preset === null ? {} : { preset: optionalText(preset) }),
  };
  const values: Readonly<Record<string, JsonSchema>> = {
    ...(format === "jpg" ? { convert: optionalField(CONVERT_SCHEMA) } : {}),
    resize: optionalField(RESIZE_SCHEMA),
    page: optionalField({ anyOf: [PAGE_SCHEMA, PAGE_TEXT_SCHEMA] }),
    ...(preset === null ? {} : { preset: optionalField(preset) }),
  };
  return {
    description: "The parameters, for who would rather not put them into the query. At most 16 KiB.",
    content: {
      "application/json": { schema: { type: "object", properties: values } },
      "application/x-www-form-urlencoded": { schema: { type: "object", properties: texts } },
    },
  };
}

/** What an image answers while it is processed. */
export function processingResponse(hasHtml: boolean): ApiResponse {
  return {
    description: "The image is still being processed. Ask again as `Retry-After` says.",
    headers: headersOf("Retry-After", "Cache-Control", "Sunset"),
    content: {
      "application/json": { schema: IMAGE_REF },
      ...(hasHtml ? { "text/html": { schema: { type: "string" } } } : {}),
    },
  };
}

/** 304, with what may have changed all the same. */
export function notModified(...more: readonly HeaderName[]): ApiResponse {
  return {
    description: "What the client has is the same still.",
    headers: headersOf("ETag", "Last-Modified", "Cache-Control", ...more),
  };
}
