import type { ApiOperation, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { headersOf } from "../../../openapi/headers.ts";
import type { ImageFacts } from "./image-facts.ts";
import { pageResponse } from "./image-page-paths.ts";
import { everywhere, inOrder, refusals } from "./image-refusals.ts";

/** What there is once: the pages for uploading and reading about the API, their files, and the uploader for ShareX. */
export function sitePaths(facts: ImageFacts, otherMethods: ApiResponse): Record<string, PathItem> {
  const withHead = (get: ApiOperation): PathItem => ({
    get,
    head: headOf(get),
    "x-other-methods": otherMethods,
  });
  const sharex = { "/sharex.sxcu": withHead(sharexOperation(facts)) };
  if (!facts.hasPages) return sharex;
  return {
    "/": withHead(pageOperation(facts, "openUploadPage", "The page for uploading")),
    "/api": withHead(pageOperation(facts, "openReference", "This description as a page")),
    "/assets/{name}": withHead(assetOperation(facts)),
    ...sharex,
  };
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
    description:
      "Its name changes with its content. To names that there are not the host app answers in its own way.",
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
    description: "A file that ShareX takes in by a double click.",
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
