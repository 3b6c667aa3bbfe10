import type { CreatedImage, ImageRecord } from "./image-types.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { parseJsonReply, type Reply } from "./reply.ts";

/** The record in a reply; refuses what is none. */
export function readImageRecord(reply: Reply): ImageRecord {
  const record = parseJsonReply(reply);
  if (typeof record.id !== "string" || typeof record.status !== "string" || typeof record.url !== "string") {
    throw new OutriggerError({
      status: reply.status,
      title: "Unexpected reply",
      detail: "What answered is not the image service. Is baseUrl the address at which it is mounted?",
    });
  }
  const etag = reply.headers.get("ETag");
  // The service's own record, by the fields that no other reply has.
  return { ...record, ...(etag === null ? {} : { etag }) } as unknown as ImageRecord;
}

/** The record of a create, which has the PIN beside it. */
export function readCreatedImage(reply: Reply): CreatedImage {
  // Creates, and nothing else, are answered with PIN and edit URL.
  return readImageRecord(reply) as CreatedImage;
}
