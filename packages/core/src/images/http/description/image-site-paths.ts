import type { ApiOperation, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { headersOf } from "../../../openapi/headers.ts";
import type { ImageFacts } from "./image-facts.ts";
import { pageResponse } from "./image-page-paths.ts";
import { everywhere, inOrder, refusals } from "./image-refusals.ts";

/** `GET HEAD {base}/`. */
export function frontPath(facts: ImageFacts): PathItem {
  return readOnly(pageOperation(facts, "openUploadPage", "Open the upload page"));
}

/** `GET HEAD {base}/api`. */
export function referencePath(facts: ImageFacts): PathItem {
  return readOnly(pageOperation(facts, "openReference", "Open the API reference"));
}

/** `GET HEAD {base}/sharex.sxcu`. */
export function sharexPath(facts: ImageFacts): PathItem {
  return readOnly(sharexOperation(facts));
}

function readOnly(get: ApiOperation): PathItem {
  return { get, head: headOf(get) };
}

function pageOperation(facts: ImageFacts, operationId: string, summary: string): ApiOperation {
  return {
    operationId,
    tags: ["Pages"],
    summary,
    security: [],
    responses: {
      "200": pageResponse("The page."),
      ...refusals(facts, "page", inOrder(...everywhere(facts), 500)),
    },
  };
}

const SHAREX_FIELDS = [
  ...["Version", "Name", "DestinationType", "RequestMethod", "RequestURL", "Body", "FileFormName"],
  ...["URL", "ThumbnailURL", "DeletionURL", "ErrorMessage"],
];

function sharexOperation(facts: ImageFacts): ApiOperation {
  return {
    operationId: "getShareXUploader",
    tags: ["Description"],
    summary: "Get a ShareX uploader",
    description: "A custom uploader that ShareX imports when the file is opened.",
    security: [],
    responses: {
      "200": {
        description: "The uploader file.",
        headers: headersOf("Cache-Control", "Content-Disposition"),
        content: {
          "application/json": {
            schema: {
              type: "object",
              properties: Object.fromEntries(SHAREX_FIELDS.map((name) => [name, { type: "string" }])),
              required: SHAREX_FIELDS,
            },
          },
        },
      },
      ...refusals(facts, "json", inOrder(...everywhere(facts))),
    },
  };
}
