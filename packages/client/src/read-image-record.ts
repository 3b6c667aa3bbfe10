import type { CreatedImage, ImageRecord } from "./image-types.ts";
import { parseJsonReply, type Reply, unexpectedReply } from "./reply.ts";

/** The record in a reply; throws for a reply without one. */
export function readImageRecord(reply: Reply): ImageRecord {
  const record = parseJsonReply(reply);
  if (!isImageRecord(record)) throw unexpectedReply(reply);
  const etag = reply.headers.get("ETag");
  return etag === null ? record : { ...record, etag };
}

/** The record in the reply to a create, which also has the PIN. */
export function readCreatedImage(reply: Reply): CreatedImage {
  // Only replies to a create have the PIN and the edit URL.
  return readImageRecord(reply) as CreatedImage;
}

/** These fields identify a record of the service, which has the documented shape. */
function isImageRecord(value: Record<string, unknown>): value is Record<string, unknown> & ImageRecord {
  return [value.id, value.status, value.url].every((field) => typeof field === "string");
}
