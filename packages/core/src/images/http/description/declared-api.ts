import { bytesText } from "../../../amounts.ts";
import type { ApiHeader, ApiMedia, ApiResponse } from "../../../openapi/document.ts";
import { headersOf, maybeHeader } from "../../../openapi/headers.ts";
import { HTML, jsonReply, queryParameter } from "../../../openapi/operations.ts";
import { type AddressFormat, FORMATS } from "../../record/formats.ts";
import { NEGOTIATED_FORMATS } from "../../renditions/negotiate-format.ts";
import { FILE_FIELD } from "../receive-image.ts";
import { changeBody, deletionBody, renditionBody, ticketBody, uploadBody } from "./image-bodies.ts";
import * as parameters from "./image-parameters.ts";
import type { DeclaredOperation, ImageFacts } from "./image-path.ts";
import { CREATED_REF, IMAGE_REF, TICKET_REF, TICKET_TERMS } from "./image-schemas.ts";

type Replies = DeclaredOperation["replies"];
type Headers = Readonly<Record<string, ApiHeader>>;

export const DENIED = "the host denies these bytes for a legal reason.";

/** `POST {base}/api/images.json` or `.txt` */
export function createImageOperation(facts: ImageFacts, suffix: "json" | "txt"): DeclaredOperation {
  const isText = suffix === "txt";
  const headers = headersOf("Location", "Link", "Cache-Control", "X-Service-Image-Url", "X-Service-Image-Id");
  const secrets = {
    ...maybeHeader(
      "X-Service-Image-Edit-Url",
      `URL of the page to edit the image. Contains the PIN. ${NO_PIN}`,
    ),
    ...maybeHeader("X-Service-Image-Pin", `The PIN. ${NO_PIN}`),
  };
  const content: Readonly<Record<string, ApiMedia>> = isText
    ? { "text/plain": { schema: { type: "string", pattern: "^https?://\\S+\\n$" } } }
    : { "application/json": { schema: CREATED_REF } };
  return {
    operationId: isText ? "createImageForText" : "createImage",
    summary: isText ? "Upload an image (plain-text reply)" : "Upload an image",
    description: `Stores a picture or document. The PIN is returned only once. Keep it to edit or delete the image later.${isText ? " The body is the image's URL and a line break; the headers contain the rest." : ""}`,
    parameters: [
      parameters.TICKET,
      ...parameters.requestHeaders("User-Agent", "Prefer", "Idempotency-Key"),
      parameters.NAME,
      parameters.DESCRIPTION,
      parameters.expiresAt(facts),
      parameters.FOCUS,
    ],
    requestBody: uploadBody(facts),
    replies: {
      201: { description: "The image is stored and ready.", headers: { ...headers, ...secrets }, content },
      202: {
        description:
          "The image is still being processed, or waits for the host's review. Its links return 202 until it is ready, and 404 if processing fails or the review refuses it.",
        headers: { ...headers, ...secrets, ...headersOf("Retry-After"), ...PREFERENCE_APPLIED },
        content,
      },
    },
    refusals: [403, 409, 451, 500, 507],
    why: {
      ...(facts.importsUrls ? { 400: UNFETCHED } : {}),
      403:
        facts.authorize === null
          ? `the connection is not secure, the host refuses the file, or ${BAD_TICKET}.`
          : `the connection is not secure, this client may not upload, a browser sent the request from another site, its owner has reached a limit, the host refuses the file, or ${BAD_TICKET}.`,
      451: DENIED,
      409: "the `Idempotency-Key` or the ticket was used for another upload, or its first request is still running.",
      413: tooLarge(facts),
      415: facts.importsUrls
        ? "the body is neither `multipart/form-data` nor JSON, or the file has a type that is not accepted, or its bytes are not of the declared type."
        : `the body is not \`multipart/form-data\`, or \`${FILE_FIELD}\` has a type that is not accepted, or its bytes are not of the declared type.`,
    },
  };
}

const BAD_TICKET = "the ticket is not valid or has expired (`code`: `ticket_invalid`, `ticket_expired`)";
const NO_PIN = "Absent with a ticket that was made without `pin`, and from a repeated reply to a ticket.";

/** `POST {base}/api/tickets.json` */
export function createTicketOperation(facts: ImageFacts): DeclaredOperation {
  return {
    operationId: "createTicket",
    summary: "Make an upload ticket",
    description:
      "A URL to which one image can be uploaded within its time, without any other permission. The URL is a secret. The owner of the image is the one of this request.",
    requestBody: ticketBody(facts),
    replies: { 200: jsonReply("The ticket.", TICKET_REF, "Cache-Control") },
  };
}

/** `GET HEAD {base}/api/tickets.json` */
export function ticketTermsOperation(): DeclaredOperation {
  return {
    operationId: "getTicketTerms",
    summary: "Get the terms of an upload ticket",
    description: "What the ticket fixes, and whether it was used. The ticket stays as it is.",
    parameters: [{ ...parameters.TICKET, required: true }],
    replies: { 200: jsonReply("The terms.", TICKET_TERMS, "Cache-Control") },
    refusals: [403, 500],
    why: { 403: `the connection is not secure, or ${BAD_TICKET}.` },
  };
}

const PREFERENCE_APPLIED: Headers = {
  "Preference-Applied": {
    description: "Confirms that `Prefer: respond-async` was applied.",
    schema: { const: "respond-async" },
  },
};

const UNFETCHED =
  "a header, a parameter or the body is invalid, or the file at `url` could not be fetched. The reply is the same for a server that does not exist, may not be contacted, does not answer, or answers with another status than 200.";

/** The text of 413 to an upload. */
export function tooLarge({ maxUploadBytes }: ImageFacts): string {
  return `the file has more than ${bytesText(maxUploadBytes)}. The rest of it stays unread, and the connection is closed.`;
}

/** The conditions of a read. */
export const READ_CONDITIONS = parameters.requestHeaders(
  "If-None-Match",
  "If-Modified-Since",
  "If-Match",
  "If-Unmodified-Since",
);
export const RANGE_HEADERS = parameters.requestHeaders("Range", "If-Range");
const CHANGE_CONDITIONS = parameters.requestHeaders("If-Match", "If-Unmodified-Since", "If-None-Match");

/** Of a record, and of what may have changed in it. */
const VALIDATORS = ["ETag", "Last-Modified", "Cache-Control", "Sunset"] as const;
const UNCHANGED = { description: "The client's copy is current.", headers: headersOf(...VALIDATORS) };
const RECORD = jsonReply("The record.", IMAGE_REF, ...VALIDATORS);

/** `GET HEAD {base}/api/images/<id>.json` */
export function getRecordOperation(): DeclaredOperation {
  return {
    operationId: "getImage",
    summary: "Get image metadata",
    description: "Name, description, type, size, focus and links. Never the PIN.",
    parameters: READ_CONDITIONS,
    replies: { 200: RECORD, 202: processingReply(false), 304: UNCHANGED },
    refusals: [412, 500],
  };
}

/** `PATCH {base}/api/images/<id>.json` */
export function patchImageOperation(facts: ImageFacts): DeclaredOperation {
  return {
    operationId: "updateImage",
    summary: "Edit an image",
    description:
      "Needs the PIN. At least one of `name`, `description`, `expiresAt` and `focus` is required, in the body or (discouraged) in the query.",
    parameters: [
      parameters.NEW_NAME,
      parameters.DESCRIPTION,
      parameters.expiresAt(facts),
      parameters.NEW_FOCUS,
      ...CHANGE_CONDITIONS,
    ],
    needsPin: true,
    requestBody: changeBody(facts),
    replies: { 200: { ...RECORD, description: "The changed record." } },
    refusals: CHANGE_REFUSALS,
    why: { 403: NOT_PERMITTED, 409: NOT_CHANGEABLE },
  };
}

/** `DELETE {base}/api/images/<id>.json` */
export function deleteImageOperation(facts: ImageFacts): DeclaredOperation {
  return {
    operationId: "deleteImage",
    summary: "Delete an image",
    description: `Needs the PIN. Afterwards all links to the image return 410, and 404 after ${facts.tombstoneMs / 86_400_000} days.`,
    parameters: CHANGE_CONDITIONS,
    needsPin: true,
    requestBody: deletionBody(),
    replies: { 204: { description: "The image is deleted.", headers: headersOf("Cache-Control") } },
    refusals: CHANGE_REFUSALS,
    why: { 403: NOT_PERMITTED, 409: "another request changed the image at the same time." },
  };
}

const CHANGE_REFUSALS = [403, 409, 412, 500, 507] as const;

/** The text of 403 to a request that needs the PIN. */
export const NOT_PERMITTED =
  "the PIN is missing or wrong, the connection is not secure, or this client may not do that.";

/** The text of 409 to a change. */
export const NOT_CHANGEABLE =
  "the image is still being processed, or another request changed it at the same time.";

/** `GET HEAD {base}/api/images/<id>.<suffix>`. @param suffix The format, or an alias of it. */
export function readImageOperation(
  facts: ImageFacts,
  format: AddressFormat,
  suffix: string = format,
): DeclaredOperation | null {
  const isAuto = format === "auto";
  if (!isAuto && !facts.formats.includes(format)) return null;
  const served = isAuto ? NEGOTIATED_FORMATS : [format];
  const isComplete = served.every(
    (each) => facts.formats.includes(each) && !facts.partialFormats.includes(each),
  );
  const renditions = Object.entries(parameters.renditionSchemas(facts, format));
  return {
    operationId: `getImageAs${suffix.charAt(0).toUpperCase()}${suffix.slice(1)}`,
    summary: `Get as ${suffix.toUpperCase()}`,
    description: formatText(facts, format, suffix),
    parameters: [
      ...renditions.map(([name, schema]) => queryParameter(name, schema)),
      ...parameters.SIGNATURE,
      ...READ_CONDITIONS,
      ...RANGE_HEADERS,
    ],
    requestBody: renditionBody(facts, format),
    replies: bytesReplies(
      facts,
      served.map((each) => FORMATS[each].type),
      isAuto ? headersOf("Vary") : {},
    ),
    refusals: [403, 412, 416, 500, ...(isComplete ? [] : ([501] as const))],
    why: READ_REFUSALS,
    ...(isAuto ? { refusalHeaders: () => VARY_OF_REFUSALS } : {}),
  };
}

const READ_REFUSALS = {
  403: "the connection is not secure, this client may not do that, or the URL needs a valid signature that has not expired.",
  415: "the image cannot be rendered in this format, or the media type of the body is not accepted.",
};

/** An address without an ID is answered as one of no image. */
const VARY_OF_REFUSALS = maybeHeader("Vary", "`Accept`; absent if `id` has no form of an ID.");

const AUTO =
  "The image in the format that suits the client's `Accept` header: the highest quality first, then AVIF, WebP, and PNG for images with transparency or JPEG for others. AVIF and WebP must be named; a wildcard means JPEG or PNG. An animation is served as GIF, or as WebP if that is named. There is no 406: other clients get JPEG, PNG or GIF. `convert` applies if the result is a JPEG.";

function formatText({ sizes }: ImageFacts, format: AddressFormat, suffix: string): string {
  if (suffix === "jpeg") return "The same as under `.jpg`.";
  const served =
    format === "auto"
      ? AUTO
      : `The image converted to ${FORMATS[format].type}. If it was uploaded as this type and no parameter changes it, the reply is the original.`;
  if (sizes.needsSignature) {
    return `${served} Any parameter of a rendition needs an address that the host app signed.`;
  }
  if (sizes.steps === null) return served;
  return `${served} A size is rounded up to the next of these steps, in pixels of the longer side: ${sizes.steps.join(", ")}. \`fit\` other than \`contain\` needs an address that the host app signed, except \`cover\` with a square box and without a point as \`at\`.`;
}

/** The replies with an image's bytes. @param more Headers of all of them. */
export function bytesReplies(facts: ImageFacts, types: readonly string[], more: Headers): Replies {
  const headers = {
    ...headersOf("ETag", "Last-Modified", "Cache-Control", "Accept-Ranges", "Content-Disposition"),
    ...headersOf("Content-Security-Policy", "Sunset"),
    ...cacheTagHeader(facts),
    ...more,
  };
  const processing = processingReply(facts.hasPages);
  const content = Object.fromEntries(
    types.map((type) => [type, { schema: { type: "string", format: "binary" } as const }]),
  );
  return {
    200: { description: "The image.", headers, content },
    202: { ...processing, headers: { ...processing.headers, ...more } },
    206: {
      description: "The bytes that `Range` selects.",
      headers: { ...headers, ...headersOf("Content-Range") },
      content,
    },
    304: { ...UNCHANGED, headers: { ...UNCHANGED.headers, ...cacheTagHeader(facts), ...more } },
  };
}

/** The header that the option `cacheTag` names. @param required Whether every such response has it. */
export function cacheTagHeader({ cacheTag }: ImageFacts, required = true): Headers {
  if (cacheTag === null) return {};
  const purpose = "The image's ID, by which a cache purges all copies of the image.";
  const description = required ? purpose : `${purpose} Absent from pages.`;
  return { [cacheTag]: { description, required, schema: { type: "string" } } };
}

/** The reply of an image that is still processed. */
export function processingReply(hasHtml: boolean): ApiResponse {
  const why =
    "The image is still being processed, or waits for the host's review. Retry after `Retry-After` seconds.";
  const reply = jsonReply(why, IMAGE_REF, "Retry-After", "Cache-Control", "Sunset");
  return hasHtml ? { ...reply, content: { ...reply.content, ...HTML } } : reply;
}
