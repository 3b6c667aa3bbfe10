import type {
  ApiMedia,
  ApiOperation,
  ApiParameter,
  ApiResponse,
  PathItem,
} from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { type HeaderName, headersOf, maybeHeader } from "../../../openapi/headers.ts";
import { optionalText } from "../../../schema/json-schema.ts";
import { ORIGINAL_TYPES } from "../../record/formats.ts";
import { expirySchemas, NEVER, NEW_NAME_SCHEMA } from "../../record/image-fields.ts";
import { PERCENT_TEXT_SCHEMA } from "../../record/picture-point.ts";
import type { ImageFacts } from "./image-facts.ts";
import { CONDITIONS, ID_PARAMETER, IF_RANGE, PAGE, RANGE, WITH_PIN } from "./image-parameters.ts";
import { bytesHeaders, bytesNotModified, cacheTagHeader, processingResponse } from "./image-read-paths.ts";
import {
  everywhere,
  type ImageRefusal,
  inOrder,
  OF_BODIES,
  OF_LIFE,
  ofHost,
  ofLimits,
  refusals,
} from "./image-refusals.ts";

const HTML: Readonly<Record<string, ApiMedia>> = { "text/html": { schema: { type: "string" } } };

const UNKNOWN = "there is no such image any more. For unknown IDs, the host app responds.";

/** The viewer's refusals with status 404. */
function viewer404(facts: ImageFacts): Record<string, ApiResponse> {
  const why = `${UNKNOWN} Also for a page that the document does not have.`;
  const link = maybeHeader(
    "Link",
    'The first and the last page of the document, `rel="first"` and `rel="last"`, for a page that it does not have.',
  );
  return refusals(facts, "page", [404], { 404: why }, link);
}

const BINARY = { schema: { type: "string", format: "binary" } } as const;

/** `GET HEAD {base}/<id>`. */
export function landingPath(facts: ImageFacts): PathItem {
  return readOnly(landingOperation(facts));
}

/** `GET HEAD {base}/<id>/view`. */
export function viewerPath(facts: ImageFacts): PathItem {
  return readOnly(viewerOperation(facts));
}

/** `GET HEAD POST {base}/<id>/edit`. */
export function editorPath(facts: ImageFacts): PathItem {
  return { ...readOnly(editorOperation(facts)), post: editOperation(facts) };
}

function readOnly(get: ApiOperation): PathItem {
  return { parameters: [ID_PARAMETER], get, head: headOf(get) };
}

function landingOperation(facts: ImageFacts): ApiOperation {
  const { hasPages } = facts;
  const originals = Object.fromEntries(ORIGINAL_TYPES.map((type) => [type, BINARY]));
  const statuses = readStatuses(facts, 412, 416);
  const both = {
    ...headersOf("Cache-Control", "Vary", "Sunset", "Content-Security-Policy"),
    ...cacheTagHeader(facts, false),
  };
  return {
    operationId: "openImage",
    tags: ["Pages"],
    summary: hasPages ? "Open an image" : "Get the original",
    description: hasPages
      ? "The link to share. Clients that prefer HTML by `Accept`, such as browsers, get the viewer; all others get the original."
      : "The link to share: the original.",
    parameters: [...(hasPages ? [PAGE_OF_VIEWER] : []), ...CONDITIONS, RANGE, IF_RANGE],
    security: [],
    responses: {
      "200": hasPages
        ? { description: "The viewer or the original.", headers: both, content: { ...originals, ...HTML } }
        : {
            description: "The original.",
            headers: { ...bytesHeaders(facts), ...headersOf("Vary") },
            content: originals,
          },
      "202": processingResponse(hasPages),
      "206": {
        description: "The bytes that `Range` selects.",
        headers: { ...bytesHeaders(facts), ...headersOf("Vary", "Content-Range") },
        content: originals,
      },
      "304": bytesNotModified(facts, "Vary"),
      ...refusals(facts, hasPages ? "page" : "json", statuses, { 404: UNKNOWN }),
      ...(hasPages ? viewer404(facts) : {}),
    },
  };
}

/** The original ignores the page. */
const PAGE_OF_VIEWER: ApiParameter = {
  ...PAGE,
  description: `${PAGE.description} Applies to the viewer only.`,
};

function viewerOperation(facts: ImageFacts): ApiOperation {
  return {
    operationId: "viewImage",
    tags: ["Pages"],
    summary: "View an image",
    parameters: [PAGE],
    security: [],
    responses: {
      "200": pageResponse("The viewer.", "Sunset"),
      "202": processingResponse(true),
      ...refusals(facts, "page", readStatuses(facts)),
      ...viewer404(facts),
    },
  };
}

function readStatuses(facts: ImageFacts, ...more: readonly ImageRefusal[]): ImageRefusal[] {
  return inOrder(
    ...[...everywhere(facts), ...ofHost(facts), ...OF_LIFE, ...ofLimits(facts, "reads"), ...more],
    500,
  );
}

function editorOperation(facts: ImageFacts): ApiOperation {
  return {
    operationId: "openEditor",
    tags: ["Pages"],
    summary: "Open the edit form",
    description:
      "The page at `X-Service-Image-Edit-Url`. Opening it changes nothing. A missing or wrong PIN returns a page that asks for it.",
    security: WITH_PIN,
    responses: {
      "200": pageResponse("The edit form."),
      ...refusals(facts, "page", editorStatuses(facts), { 403: FORBIDDEN, 404: UNKNOWN }),
    },
  };
}

function editOperation(facts: ImageFacts): ApiOperation {
  return {
    operationId: "sendEditForm",
    tags: ["Pages"],
    summary: "Submit the edit form",
    description: "For browsers. Other clients use PATCH and DELETE.",
    security: WITH_PIN,
    requestBody: {
      required: true,
      content: {
        "application/x-www-form-urlencoded": {
          schema: {
            type: "object",
            properties: {
              action: { type: "string", enum: ["update", "delete"] },
              pin: { type: "string", description: "The PIN (alternative to the query)." },
              confirm: { type: "string", description: "Must not be empty if `action` is `delete`." },
              name: NEW_NAME_SCHEMA,
              expiry: {
                type: "string",
                enum: ["keep", "in", "on", ...(facts.maxLifetimeMs === null ? [NEVER] : [])],
                description:
                  "`keep` the present expiry, expire `in` the duration of `expiresIn`, or `on` the date of `expiresAt`. `never` needs a service without a longest lifetime. The field that is not chosen must be empty. Default: by the field that is not empty.",
              },
              expiresIn: {
                type: "string",
                pattern: "^\\d{0,15}$",
                description: "New lifetime from now in milliseconds.",
              },
              expiresAt: optionalText(expirySchemas(facts).form),
              utcOffset: {
                type: "string",
                description:
                  "Time zone of a date without one, such as `+02:00`. Any other value counts as UTC.",
              },
              focusX: {
                ...PERCENT_TEXT_SCHEMA,
                description:
                  "The focus in percent of the width, from the left. Empty together with `focusY`: the centre. A form with neither keeps the focus.",
              },
              focusY: { ...PERCENT_TEXT_SCHEMA, description: "Percent of the height, from the top." },
            },
            required: ["action"],
          },
        },
      },
    },
    responses: {
      "303": {
        description: "Done. `Location` is a page that confirms it.",
        headers: headersOf("Location", "Cache-Control"),
      },
      default: { description: "The page at `Location`, for a client that follows it.", content: HTML },
      ...refusals(facts, "page", inOrder(...editorStatuses(facts), ...OF_BODIES, 409, 507), {
        403: FORBIDDEN,
        404: UNKNOWN,
        409: "the image is still being processed, or another request changed it at the same time.",
      }),
    },
  };
}

const FORBIDDEN =
  "the PIN is missing or wrong, the connection is not secure, or this client may not do that.";

function editorStatuses(facts: ImageFacts): ImageRefusal[] {
  return inOrder(...everywhere(facts), ...OF_LIFE, ...ofLimits(facts, "edits", "pinFailures"), 403, 500);
}

/** A reply with an HTML page. */
export function pageResponse(description: string, ...more: readonly HeaderName[]): ApiResponse {
  return {
    description,
    headers: headersOf("Cache-Control", "Content-Security-Policy", ...more),
    content: HTML,
  };
}
