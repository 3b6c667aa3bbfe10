import type { ApiResponse } from "../../../openapi/document.ts";
import { headersOf } from "../../../openapi/headers.ts";
import { HTML, jsonReply, queryParameter } from "../../../openapi/operations.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import { ORIGINAL_TYPES } from "../../record/formats.ts";
import {
  bytesReplies,
  cacheTagHeader,
  processingReply,
  RANGE_HEADERS,
  READ_CONDITIONS,
} from "./declared-api.ts";
import type { DeclaredOperation, ImageFacts } from "./image-path.ts";

/** `GET HEAD {base}/<id>` */
export function landingOperation(facts: ImageFacts): DeclaredOperation {
  const bytes = bytesReplies(facts, ORIGINAL_TYPES, headersOf("Vary"));
  const original = { ...bytes[200], description: "The original." };
  return {
    operationId: "openImage",
    summary: "Get the original",
    description: facts.hasPages ? `${LINK} Clients that prefer HTML by \`Accept\` get the viewer.` : LINK,
    parameters: [...READ_CONDITIONS, ...RANGE_HEADERS],
    replies: {
      ...bytes,
      200: facts.hasPages ? { ...original, ...viewerBeside(facts, bytes[200]?.content) } : original,
      202: processingReply(facts.hasPages),
    },
    refusals: [412, 416, 500],
    why: { 404: "there is no such image any more. For unknown IDs, the host app responds." },
  };
}

const LINK = "The link to share: the original.";

/** The page is not stored by the headers of files. */
function viewerBeside(facts: ImageFacts, content: ApiResponse["content"]): Partial<ApiResponse> {
  const headers = headersOf("Cache-Control", "Vary", "Sunset", "Content-Security-Policy");
  return { headers: { ...headers, ...cacheTagHeader(facts, false) }, content: { ...content, ...HTML } };
}

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
