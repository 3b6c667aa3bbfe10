import type { ApiParameter, ApiResponse } from "../../../openapi/document.ts";
import { type HeaderName, headersOf, maybeHeader } from "../../../openapi/headers.ts";
import { HTML, jsonReply, queryParameter } from "../../../openapi/operations.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { FORMATS, ORIGINAL_TYPES } from "../../record/formats.ts";
import { RENDITION_SCHEMAS } from "../../renditions/read-parameters.ts";
import {
  bytesReplies,
  cacheTagHeader,
  NOT_CHANGEABLE,
  NOT_PERMITTED,
  processingReply,
  RANGE_HEADERS,
  READ_CONDITIONS,
  tooLarge,
} from "./declared-api.ts";
import { editFormBody, uploadFormBody } from "./image-bodies.ts";
import { PAGE, requestHeaders } from "./image-parameters.ts";
import type { DeclaredOperation, ImageFacts } from "./image-path.ts";

const UNKNOWN = "there is no such image any more. For unknown IDs, the host app responds.";

/** What 404 of the viewer says beside the image. */
const VIEWER_REFUSALS: Pick<DeclaredOperation, "why" | "refusalHeaders"> = {
  why: { 404: `${UNKNOWN} Also for a page that the document does not have.` },
  refusalHeaders: (status) => (status === 404 ? DOCUMENT_LINKS : {}),
};
const DOCUMENT_LINKS = maybeHeader(
  "Link",
  'The first and the last page of the document, `rel="first"` and `rel="last"`, for a page that it does not have.',
);

/** The original ignores the page. */
const PAGE_OF_VIEWER: ApiParameter = {
  ...PAGE,
  description: `${PAGE.description} Applies to the viewer only.`,
};

/** `GET HEAD {base}/<id>` */
export function landingOperation(facts: ImageFacts): DeclaredOperation {
  const bytes = bytesReplies(facts, ORIGINAL_TYPES, headersOf("Vary"));
  const common = { operationId: "openImage", tag: "Pages", refusals: [412, 416, 500] } as const;
  const processing = processingReply(facts.hasPages);
  if (!facts.hasPages) {
    return {
      ...common,
      summary: "Get the original",
      description: "The link to share: the original.",
      parameters: [...READ_CONDITIONS, ...RANGE_HEADERS],
      replies: { ...bytes, 200: { ...bytes[200], description: "The original." }, 202: processing },
      why: { 404: UNKNOWN },
    };
  }
  const either = {
    description: "The viewer or the original.",
    headers: {
      ...headersOf("Cache-Control", "Vary", "Sunset", "Content-Security-Policy"),
      ...cacheTagHeader(facts, false),
    },
    content: { ...bytes[200]?.content, ...HTML },
  };
  return {
    ...common,
    summary: "Open an image",
    description:
      "The link to share. Clients that prefer HTML by `Accept`, such as browsers, get the viewer; all others get the original.",
    parameters: [PAGE_OF_VIEWER, ...READ_CONDITIONS, ...RANGE_HEADERS],
    replies: { ...bytes, 200: either, 202: processing },
    ...VIEWER_REFUSALS,
  };
}

/** `GET HEAD {base}/<id>/view` */
export function viewerOperation(facts: ImageFacts): DeclaredOperation | null {
  if (!facts.hasPages) return null;
  const types = facts.formats.map((format) => FORMATS[format].type);
  const bytes = bytesReplies(facts, types, {});
  const page = pageReply("The viewer, or the file that `download` names.", "Sunset");
  return {
    operationId: "viewImage",
    tag: "Pages",
    summary: "View an image",
    parameters: [PAGE_OF_PAGE, downloadOf(facts), DOWNLOAD_SIZE, ...READ_CONDITIONS, ...RANGE_HEADERS],
    replies: {
      ...bytes,
      200: {
        ...page,
        headers: { ...page.headers, ...cacheTagHeader(facts, false) },
        content: { ...bytes[200]?.content, ...HTML },
      },
    },
    refusals: [412, 416, 500, 501],
    ...VIEWER_REFUSALS,
  };
}

/** The file has its parameters in `download`. */
const PAGE_OF_PAGE: ApiParameter = {
  ...PAGE,
  description: `${PAGE.description} Ignored with \`download\`.`,
};

function downloadOf({ formats }: ImageFacts): ApiParameter {
  return queryParameter("download", {
    type: "string",
    pattern: `^(?:${formats.join("|")})(?:\\?|$)`,
    examples: ["png"],
    description:
      "For the viewer's form: the file to save instead of the page, as the end of its address, such as `png` or `jpg?convert=low`.",
  });
}

const DOWNLOAD_SIZE = queryParameter("resize", {
  ...RENDITION_SCHEMAS.resize,
  description: "The box that the file fits into. Applies to `download` only.",
});

const EMBEDDING: JsonSchema = {
  type: "object",
  properties: {
    type: { enum: ["photo", "link"] },
    version: { const: "1.0" },
    title: { type: "string" },
    provider_name: { type: "string" },
    provider_url: { type: "string", format: "uri" },
    cache_age: { type: "integer", minimum: 0 },
    url: { type: "string", format: "uri" },
    width: { type: "integer", minimum: 1 },
    height: { type: "integer", minimum: 1 },
  },
  required: ["type", "version", "title", "provider_name", "provider_url", "cache_age"],
};

/** `GET HEAD {base}/api/oembed.json` */
export function embeddingOperation(): DeclaredOperation {
  const side = { type: "integer", minimum: 1, maximum: 999_999_999 } as const;
  return {
    operationId: "getEmbedding",
    tag: "Pages",
    summary: "Get what other sites embed",
    description:
      'oEmbed 1.0. The viewer names this address by `<link rel="alternate">`. The type is `link` for an image that no raster shows.',
    parameters: [
      { ...queryParameter("url", { type: "string", description: "The viewer's address." }), required: true },
      queryParameter("maxwidth", { ...side, description: "Most pixels of the width." }),
      queryParameter("maxheight", { ...side, description: "Most pixels of the height." }),
      queryParameter("format", { type: "string", description: "`json`; 501 for any other." }),
    ],
    replies: {
      200: jsonReply("The picture, its size, and its title.", EMBEDDING, "Cache-Control", "Sunset"),
      202: processingReply(false),
    },
    refusals: [404, 410, 451, 500, 501],
    why: { 404: "there is no image at this address.", 501: "`format` is not `json`." },
  };
}

/** `GET HEAD {base}/<id>/edit` */
export function editorOperation({ hasPages }: ImageFacts): DeclaredOperation | null {
  if (!hasPages) return null;
  return {
    operationId: "openEditor",
    tag: "Pages",
    summary: "Open the edit form",
    description:
      "The page at `X-Service-Image-Edit-Url`. Opening it changes nothing. A missing or wrong PIN returns a page that asks for it.",
    needsPin: true,
    replies: { 200: pageReply("The edit form.") },
    refusals: [403, 500],
    why: { 403: NOT_PERMITTED, 404: UNKNOWN },
  };
}

/** `POST {base}/<id>/edit` */
export function editFormOperation(facts: ImageFacts): DeclaredOperation | null {
  if (!facts.hasPages) return null;
  return {
    operationId: "sendEditForm",
    tag: "Pages",
    summary: "Submit the edit form",
    description: "For browsers. Other clients use PATCH and DELETE.",
    needsPin: true,
    requestBody: editFormBody(facts),
    replies: {
      303: {
        description: "Done. `Location` is a page that confirms it.",
        headers: headersOf("Location", "Cache-Control"),
      },
      default: { description: "The page at `Location`, for a client that follows it.", content: HTML },
    },
    refusals: [403, 409, 500, 507],
    why: { 403: NOT_PERMITTED, 404: UNKNOWN, 409: NOT_CHANGEABLE },
  };
}

/** `GET HEAD {base}/` */
export function uploadPageOperation(): DeclaredOperation {
  const replies = { 200: pageReply("The page.") };
  const summary = "Open the upload page";
  return { operationId: "openUploadPage", tag: "Pages", summary, replies, refusals: [500] };
}

/** `POST {base}/` */
export function uploadFormOperation(facts: ImageFacts): DeclaredOperation {
  const created = pageReply("The page with the link, the edit link and the PIN.", "Location");
  return {
    operationId: "sendUploadForm",
    tag: "Pages",
    summary: "Submit the upload form",
    description:
      "For browsers without JavaScript. Other clients use `POST /api/images.json`. Clients that prefer HTML by `Accept` get refusals as the form with the reason.",
    parameters: requestHeaders("User-Agent"),
    requestBody: uploadFormBody(facts),
    replies: {
      201: created,
      202: {
        ...created,
        description: "The same page. The image is still being processed.",
        headers: { ...created.headers, ...headersOf("Retry-After") },
      },
    },
    refusals: [403, 451, 500, 507],
    why: {
      403: "the connection is not secure, a browser sent the form from another site, or this client may not upload.",
      413: tooLarge(facts),
      415: "the body is not `multipart/form-data`, or the file is not an image that is accepted.",
    },
  };
}

const SHAREX_FIELDS = [
  ...["Version", "Name", "DestinationType", "RequestMethod", "RequestURL", "Body", "FileFormName"],
  ...["URL", "ThumbnailURL", "DeletionURL", "ErrorMessage"],
];

/** `GET HEAD {base}/sharex.sxcu` */
export function sharexOperation(): DeclaredOperation {
  const properties = Object.fromEntries(SHAREX_FIELDS.map((name) => [name, { type: "string" } as const]));
  const schema = { type: "object", properties, required: SHAREX_FIELDS } as const;
  return {
    operationId: "getShareXUploader",
    tag: "Description",
    summary: "Get a ShareX uploader",
    description: "A custom uploader that ShareX imports when the file is opened.",
    replies: { 200: jsonReply("The uploader file.", schema, "Cache-Control", "Content-Disposition") },
  };
}

function pageReply(description: string, ...more: readonly HeaderName[]): ApiResponse {
  return {
    description,
    headers: headersOf("Cache-Control", "Content-Security-Policy", ...more),
    content: HTML,
  };
}
