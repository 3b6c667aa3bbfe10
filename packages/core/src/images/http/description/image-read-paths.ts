import type { ImageFormat } from "../../../contracts/renderer.ts";
import type {
  ApiHeader,
  ApiOperation,
  ApiRequestBody,
  ApiResponse,
  PathItem,
} from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { type HeaderName, headersOf, maybeHeader } from "../../../openapi/headers.ts";
import { queryParameter } from "../../../openapi/parameters.ts";
import { type JsonSchema, optionalField, optionalText } from "../../../schema/json-schema.ts";
import { type AddressFormat, FORMATS } from "../../record/formats.ts";
import { NEGOTIATED_FORMATS } from "../../renditions/negotiate-format.ts";
import { presetSchema } from "../../renditions/presets.ts";
import {
  AT_SCHEMA,
  AT_TEXT_SCHEMA,
  BACKGROUND_SCHEMA,
  convertSchema,
  FIT_SCHEMA,
  PAGE_SCHEMA,
  PAGE_TEXT_SCHEMA,
  RESIZE_SCHEMA,
} from "../../renditions/read-parameters.ts";
import type { ImageFacts } from "./image-facts.ts";
import {
  CONDITIONS,
  CROP,
  ID_PARAMETER,
  IF_RANGE,
  PAGE,
  RANGE,
  RESIZE,
  SIGNATURE,
  UNTIL,
} from "./image-parameters.ts";
import { everywhere, inOrder, OF_BODIES, OF_LIFE, ofHost, ofLimits, refusals } from "./image-refusals.ts";
import { IMAGE_REF } from "./image-schemas.ts";

/** Headers of every 200 and 206 with an image's bytes. */
export function bytesHeaders(facts: ImageFacts): Record<string, ApiHeader> {
  return {
    ...headersOf("ETag", "Last-Modified", "Cache-Control", "Accept-Ranges", "Content-Disposition"),
    ...headersOf("Content-Security-Policy", "Sunset"),
    ...cacheTagHeader(facts),
  };
}

/** The header that the option `cacheTag` names. @param required Whether every such response has it. */
export function cacheTagHeader({ cacheTag }: ImageFacts, required = true): Record<string, ApiHeader> {
  if (cacheTag === null) return {};
  const purpose = "The image's ID, by which a cache purges all copies of the image.";
  const description = required ? purpose : `${purpose} Absent from pages.`;
  return { [cacheTag]: { description, required, schema: { type: "string" } } };
}

/** `GET HEAD {base}/api/images/<id>.<suffix>`. @param suffix The format, or an alias of it. */
export function readPath(facts: ImageFacts, format: AddressFormat, suffix: string = format): PathItem {
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

function readOperation(facts: ImageFacts, format: AddressFormat, suffix: string): ApiOperation {
  const preset = presetSchema(facts.presets);
  const convert = convertSchema(format);
  const served = format === "auto" ? NEGOTIATED_FORMATS : [format];
  const statuses = inOrder(
    ...[...everywhere(facts), ...ofHost(facts), ...OF_LIFE, ...OF_BODIES, ...ofLimits(facts, "reads")],
    ...([403, 412, 416, 500] as const),
    ...(served.every((each) => isComplete(facts, each)) ? [] : ([501] as const)),
  );
  const content = Object.fromEntries(
    served.map((each) => [FORMATS[each].type, { schema: { type: "string", format: "binary" } } as const]),
  );
  const vary = format === "auto" ? headersOf("Vary") : {};
  const headers = { ...bytesHeaders(facts), ...vary };
  const processing = processingResponse(facts.hasPages);
  const unmodified = bytesNotModified(facts);
  return {
    operationId: `getImageAs${suffix.charAt(0).toUpperCase()}${suffix.slice(1)}`,
    tags: ["Images"],
    summary: `Get as ${suffix.toUpperCase()}`,
    description: format === "auto" ? AUTO + sizesText(facts) : formatText(facts, format, suffix),
    parameters: [
      ...(convert === null ? [] : [queryParameter("convert", convert)]),
      ...[RESIZE, ...CROP, PAGE],
      ...(preset === null ? [] : [queryParameter("preset", preset)]),
      ...[SIGNATURE, UNTIL, ...CONDITIONS, RANGE, IF_RANGE],
    ],
    security: [],
    requestBody: parametersBody(format, preset),
    responses: {
      "200": { description: "The image.", headers, content },
      "202": { ...processing, headers: { ...processing.headers, ...vary } },
      "206": {
        description: "The bytes that `Range` selects.",
        headers: { ...headers, ...headersOf("Content-Range") },
        content,
      },
      "304": { ...unmodified, headers: { ...unmodified.headers, ...vary } },
      ...refusals(facts, "json", statuses, REFUSALS, format === "auto" ? VARY_OF_REFUSALS : {}),
    },
  };
}

const AUTO =
  "The image in the format that suits the client's `Accept` header: the highest quality first, then AVIF, WebP, and PNG for images with transparency or JPEG for others. AVIF and WebP must be named; a wildcard means JPEG or PNG. An animation is served as GIF, or as WebP if that is named. There is no 406: other clients get JPEG, PNG or GIF. `convert` applies if the result is a JPEG, its value `auto` also if it is WebP or AVIF.";

/** An address without an ID is answered as one of no image. */
const VARY_OF_REFUSALS = maybeHeader("Vary", "`Accept`; absent if `id` has no form of an ID.");

const REFUSALS = {
  403: "the connection is not secure, this client may not do that, or the URL needs a valid signature that has not expired.",
  415: "the image cannot be rendered in this format, or the media type of the body is not accepted.",
};

function formatText(facts: ImageFacts, format: ImageFormat, suffix: string): string {
  if (suffix === "jpeg") return "The same as under `.jpg`.";
  return `The image converted to ${FORMATS[format].type}. If it was uploaded as this type and no parameter changes it, the reply is the original.${sizesText(facts)}`;
}

/** Whether every type of image can be served as a format. */
function isComplete({ formats, partialFormats }: ImageFacts, format: ImageFormat): boolean {
  return formats.includes(format) && !partialFormats.includes(format);
}

/** Describes the limits on sizes. */
function sizesText({ sizes }: ImageFacts): string {
  if (sizes.needsSignature) return " Any parameter of a rendition needs an address that the host app signed.";
  if (sizes.steps === null) return "";
  return ` A size is rounded up to the next of these steps, in pixels of the longer side: ${sizes.steps.join(", ")}. \`fit\` other than \`contain\` needs an address that the host app signed, except \`cover\` with a square box and without a point as \`at\`.`;
}

/** The parameters as a JSON object or a form. They take precedence over those of the query. */
function parametersBody(format: AddressFormat, preset: JsonSchema | null): ApiRequestBody {
  const convert = convertSchema(format);
  const texts: Readonly<Record<string, JsonSchema>> = {
    ...(convert === null ? {} : { convert: optionalText(convert) }),
    resize: optionalText(RESIZE_SCHEMA),
    fit: optionalText(FIT_SCHEMA),
    at: optionalText(AT_TEXT_SCHEMA),
    background: optionalText(BACKGROUND_SCHEMA),
    page: optionalText(PAGE_TEXT_SCHEMA),
    ...(preset === null ? {} : { preset: optionalText(preset) }),
  };
  const values: Readonly<Record<string, JsonSchema>> = {
    ...(convert === null ? {} : { convert: optionalField(convert) }),
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

/** 304 for an image's bytes. */
export function bytesNotModified(facts: ImageFacts, ...more: readonly HeaderName[]): ApiResponse {
  const response = notModified("Sunset", ...more);
  return { ...response, headers: { ...response.headers, ...cacheTagHeader(facts) } };
}

/** 304, with the headers that may have changed nevertheless. */
export function notModified(...more: readonly HeaderName[]): ApiResponse {
  return {
    description: "The client's copy is current.",
    headers: headersOf("ETag", "Last-Modified", "Cache-Control", ...more),
  };
}
