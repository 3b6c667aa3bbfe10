import type { ApiOperation, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { headersOf } from "../../../openapi/headers.ts";
import type { ImageFacts } from "./image-facts.ts";
import { pageResponse } from "./image-page-paths.ts";
import { everywhere, inOrder, refusals } from "./image-refusals.ts";

/** `GET HEAD {base}/`. */
export function frontPath(facts: ImageFacts): PathItem {
  return readOnly(pageOperation(facts, "openUploadPage", "The page for uploading"));
}

/** `GET HEAD {base}/api`. */
export function referencePath(facts: ImageFacts): PathItem {
  return readOnly(pageOperation(facts, "openReference", "This description as a page"));
}

/** `GET HEAD {base}/assets/<name>`. */
export function assetPath(facts: ImageFacts): PathItem {
  return readOnly(assetOperation(facts));
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
    responses: {
      "200": pageResponse("The page."),
      ...refusals(facts, "page", inOrder(...everywhere(facts), 500)),
    },
  };
}

function assetOperation(facts: ImageFacts): ApiOperation {
  const file = { schema: { type: "string" } } as const;
  return {
    operationId: "getAsset",
    tags: ["Pages"],
    summary: "A file that pages load",
    description: "Its name changes with its content. For an unknown name, the host app replies.",
    parameters: [
      {
        name: "name",
        in: "path",
        required: true,
        schema: { type: "string", pattern: "^[A-Za-z0-9_.-]{1,100}$" },
      },
    ],
    responses: {
      "200": {
        description: "The file.",
        headers: headersOf("Cache-Control", "Vary"),
        content: { "text/javascript": file, "text/css": file, "image/svg+xml": file },
      },
      ...refusals(facts, "json", inOrder(...everywhere(facts))),
    },
  };
}

function sharexOperation(facts: ImageFacts): ApiOperation {
  return {
    operationId: "getShareXUploader",
    tags: ["Description"],
    summary: "An uploader for ShareX",
    description: "A file that ShareX imports on a double click.",
    responses: {
      "200": {
        description: "The custom uploader.",
        headers: headersOf("Cache-Control", "Content-Disposition"),
        content: {
          "application/json": {
            schema: {
              type: "object",
              additionalProperties: true,
              properties: { Version: { type: "string" }, RequestURL: { type: "string", format: "uri" } },
              required: [
                "Version",
                "Name",
                "DestinationType",
                "RequestMethod",
                "RequestURL",
                "Body",
                "FileFormName",
              ],
            },
          },
        },
      },
      ...refusals(facts, "json", inOrder(...everywhere(facts))),
    },
  };
}
