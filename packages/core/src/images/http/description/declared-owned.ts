import { jsonReply, queryParameter } from "../../../openapi/operations.ts";
import type { JsonSchema } from "../../../schema/json-schema.ts";
import type { DeclaredOperation } from "./image-path.ts";
import { RECORD_PROPERTIES } from "./image-schemas.ts";

const count = { type: "integer", minimum: 0 } as const;
const objectOf = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

const { id, name, type, size, createdAt, expiresAt, url } = RECORD_PROPERTIES;

const OWNED = objectOf({
  usage: { ...objectOf({ images: count, bytes: count }), description: "All images that the owner has." },
  images: {
    type: "array",
    items: objectOf({ id, name, type, size, state: { type: "string" }, createdAt, expiresAt, url }),
  },
  next: { type: ["integer", "null"], description: "`before` of the next page; null: this is the last one." },
});

const REMOVAL = objectOf({
  removed: { ...count, description: "Images that this request deleted." },
  withheld: { ...count, description: "Images that stay because an operator withholds them." },
});

const NO_OWNER = "the connection is not secure, or the host permits this for no owner.";

/** `GET HEAD {base}/api/owned.json` */
export function listOwnedOperation(): DeclaredOperation {
  return {
    operationId: "listOwnImages",
    summary: "List the images of an owner",
    description: "The owner is the one that the host names for this request. Newest first.",
    parameters: [
      queryParameter("limit", { type: "integer", minimum: 1, maximum: 1000, default: 50 }),
      queryParameter("before", {
        type: "integer",
        minimum: 0,
        description: "`next` of the page before. Default: the first page.",
      }),
    ],
    replies: { 200: jsonReply("A page of the images.", OWNED, "Cache-Control") },
    refusals: [403, 500],
    why: { 403: NO_OWNER },
  };
}

/** `DELETE {base}/api/owned.json` */
export function deleteOwnedOperation(): DeclaredOperation {
  return {
    operationId: "deleteOwnImages",
    summary: "Delete all images of an owner",
    description:
      "The owner is the one that the host names for this request. Images that an operator withholds stay. A deletion survives a crash.",
    replies: {
      200: jsonReply("All are deleted.", REMOVAL, "Cache-Control"),
      202: jsonReply("Some are deleted, and the service goes on.", REMOVAL, "Cache-Control"),
    },
    refusals: [403, 500, 507],
    why: { 403: NO_OWNER },
  };
}
