import type { ApiOperation, ApiRequestBody, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { headOf } from "../../../openapi/head-of.ts";
import { headersOf } from "../../../openapi/headers.ts";
import { type JsonSchema, optionalText } from "../../../schema/json-schema.ts";
import { expirySchemas, NEW_NAME_SCHEMA } from "../../record/image-fields.ts";
import { POINT_SCHEMA, POINT_TEXT_SCHEMA } from "../../record/picture-point.ts";
import type { ImageFacts } from "./image-facts.ts";
import {
  CONDITIONS,
  expiresAt,
  FOCUS_TEXT,
  ID_PARAMETER,
  IF_MATCH,
  IF_NONE_MATCH,
  IF_UNMODIFIED_SINCE,
  NEW_FOCUS,
  NEW_NAME,
  WITH_PIN,
} from "./image-parameters.ts";
import { notModified, processingResponse } from "./image-read-paths.ts";
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
import { IMAGE_REF } from "./image-schemas.ts";

const PIN_FIELD: JsonSchema = {
  type: "string",
  description: "The PIN (alternative to the header or the query).",
};

/** `{base}/api/images/<id>.json`. */
export function recordPath(facts: ImageFacts): PathItem {
  const get = readOperation(facts);
  return {
    parameters: [ID_PARAMETER],
    get,
    head: headOf(get),
    patch: patchOperation(facts),
    delete: deleteOperation(facts),
  };
}

function readOperation(facts: ImageFacts): ApiOperation {
  const statuses = inOrder(
    ...[...everywhere(facts), ...ofHost(facts), ...OF_LIFE, ...ofLimits(facts, "reads")],
    ...([412, 500] as const),
  );
  return {
    operationId: "getImage",
    tags: ["Images"],
    summary: "Get image metadata",
    description: "Name, type, size, focus and links. Never the PIN.",
    parameters: CONDITIONS,
    security: [],
    responses: {
      "200": recordResponse("The record."),
      "202": processingResponse(false),
      "304": notModified("Sunset"),
      ...refusals(facts, "json", statuses),
    },
  };
}

function patchOperation(facts: ImageFacts): ApiOperation {
  return {
    operationId: "updateImage",
    tags: ["Images"],
    summary: "Edit an image",
    description:
      "Needs the PIN. At least one of `name`, `expiresAt` and `focus` is required, in the body or (discouraged) in the query.",
    parameters: [NEW_NAME, expiresAt(facts), NEW_FOCUS, IF_MATCH, IF_UNMODIFIED_SINCE, IF_NONE_MATCH],
    security: WITH_PIN,
    requestBody: changeBody(facts),
    responses: {
      "200": recordResponse("The changed record.", facts),
      ...refusals(facts, "json", editStatuses(facts), {
        403: FORBIDDEN,
        409: "the image is still being processed, or another request changed it at the same time.",
      }),
    },
  };
}

function deleteOperation(facts: ImageFacts): ApiOperation {
  return {
    operationId: "deleteImage",
    tags: ["Images"],
    summary: "Delete an image",
    description: `Needs the PIN. Afterwards all links to the image return 410, and 404 after ${facts.tombstoneMs / 86_400_000} days.`,
    parameters: [IF_MATCH, IF_UNMODIFIED_SINCE, IF_NONE_MATCH],
    security: WITH_PIN,
    requestBody: {
      description: "The PIN (alternative to the header or the query).",
      content: contentOf({ type: "object", properties: { pin: PIN_FIELD } }),
    },
    responses: {
      "204": {
        description: "The image is deleted.",
        headers: headersOf("Cache-Control", ...limitHeaders(facts)),
      },
      ...refusals(facts, "json", editStatuses(facts), {
        403: FORBIDDEN,
        409: "another request changed the image at the same time.",
      }),
    },
  };
}

const FORBIDDEN =
  "the PIN is missing or wrong, the connection is not secure, or this client may not do that.";

function editStatuses(facts: ImageFacts): ImageRefusal[] {
  return inOrder(
    ...[...everywhere(facts), ...OF_LIFE, ...OF_BODIES, ...ofLimits(facts, "edits", "pinFailures")],
    ...([403, 409, 412, 500, 507] as const),
  );
}

function recordResponse(description: string, limited?: ImageFacts): ApiResponse {
  const limits = limited === undefined ? [] : limitHeaders(limited);
  return {
    description,
    headers: headersOf("ETag", "Last-Modified", "Cache-Control", "Sunset", ...limits),
    content: { "application/json": { schema: IMAGE_REF } },
  };
}

function limitHeaders({ rules }: ImageFacts): ("RateLimit" | "RateLimit-Policy")[] {
  return rules.edits === null ? [] : ["RateLimit", "RateLimit-Policy"];
}

function changeBody(facts: ImageFacts): ApiRequestBody {
  const { description } = expiresAt(facts);
  const schemas = expirySchemas(facts);
  const values: JsonSchema = {
    type: "object",
    properties: {
      name: { ...NEW_NAME_SCHEMA, type: ["string", "null"] },
      expiresAt: {
        anyOf: [schemas.json, { enum: [""] }],
        ...(description === undefined ? {} : { description }),
      },
      focus: {
        anyOf: [POINT_SCHEMA, POINT_TEXT_SCHEMA, { enum: ["", null] }],
        description: `${FOCUS_TEXT} Null removes it.`,
      },
      pin: PIN_FIELD,
    },
  };
  const texts: JsonSchema = {
    type: "object",
    properties: {
      name: NEW_NAME_SCHEMA,
      expiresAt: optionalText(schemas.form),
      focus: { ...optionalText(POINT_TEXT_SCHEMA), description: `${FOCUS_TEXT} An empty value removes it.` },
      pin: PIN_FIELD,
    },
  };
  return {
    description: "The changes as a JSON object or a form, at most 16 KiB. A null `name` counts as absent.",
    content: {
      "application/json": { schema: values },
      "application/x-www-form-urlencoded": { schema: texts },
    },
  };
}

function contentOf(schema: JsonSchema): ApiRequestBody["content"] {
  return { "application/json": { schema }, "application/x-www-form-urlencoded": { schema } };
}
