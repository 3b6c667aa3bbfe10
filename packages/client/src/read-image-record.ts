import type { CreatedImage, ImageRecord } from "./image-types.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { parseJsonReply, type Reply } from "./reply.ts";

/** The record in a reply; throws for a reply without one. */
export function readImageRecord(reply: Reply): ImageRecord {
  const record = parseJsonReply(reply);
  if (typeof record.id !== "string" || typeof record.status !== "string" || typeof record.url !== "string") {
    throw new OutriggerError({
      status: reply.status,
      title: "Unexpected reply",
      detail:
        "The reply does not come from the image service. Check that baseUrl is the address at which it is mounted.",
    });
  }
  const etag = reply.headers.get("ETag");
  // The checked fields identify a record of the service.
  return { ...record, ...(etag === null ? {} : { etag }) } as unknown as ImageRecord;
}

/** The record in the reply to a create, which also has the PIN. */
export function readCreatedImage(reply: Reply): CreatedImage {
  // Only replies to a create have the PIN and the edit URL.
  return readImageRecord(reply) as CreatedImage;
}
