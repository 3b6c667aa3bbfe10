import type { ApiOperation, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { headersOf } from "../../../openapi/headers.ts";
import { USER_AGENT, uploadFormBody } from "./image-create-paths.ts";
import type { ImageFacts } from "./image-facts.ts";
import { pageResponse } from "./image-page-paths.ts";
import { everywhere, inOrder, OF_BODIES, ofLimits, refusals } from "./image-refusals.ts";

/** `GET HEAD POST {base}/`. */
export function frontPath(facts: ImageFacts): PathItem {
  const page = readOnly(pageOperation(facts, "openUploadPage", "Open the upload page"));
  return facts.hasUploadForm ? { ...page, post: formOperation(facts) } : page;
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

function formOperation(facts: ImageFacts): ApiOperation {
  const created = pageResponse("The page with the link, the edit link and the PIN.", "Location");
  const limits = facts.rules.creates === null ? {} : headersOf("RateLimit", "RateLimit-Policy");
  const statuses = inOrder(
    ...[...everywhere(facts), ...OF_BODIES, ...ofLimits(facts, "creates")],
    ...([403, 500, 507] as const),
  );
  return {
    operationId: "sendUploadForm",
    tags: ["Pages"],
    summary: "Submit the upload form",
    description:
      "For browsers without JavaScript. Other clients use `POST /api/images.json`. Clients that prefer HTML by `Accept` get refusals as the form with the reason.",
    parameters: [USER_AGENT],
    security: [],
    requestBody: uploadFormBody(facts),
    responses: {
      "201": { ...created, headers: { ...created.headers, ...limits } },
      "202": {
        ...created,
        description: "The same page. The image is still being processed.",
        headers: { ...created.headers, ...limits, ...headersOf("Retry-After") },
      },
      ...refusals(facts, "page", statuses, {
        403: "the connection is not secure, a browser sent the form from another site, or this client may not upload.",
        413: `the file has more than ${facts.maxUploadBytes} bytes. The rest of it stays unread, and the connection is closed.`,
        415: "the body is not `multipart/form-data`, or the file is not an image that is accepted.",
      }),
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
