import type { Call, Reply } from "../../contracts/call.ts";
import { baseUrl, createdLinks, editUrl, imageUrl, recordBody } from "../record/image-links.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { ImageContext } from "./image-context.ts";
import { retryAfterSeconds } from "./processing-reply.ts";

/** 201 for an image, 202 for one that is still being processed: with the same addresses, which stay. */
export function createdReply(
  context: ImageContext,
  call: Call,
  record: ImageRecord,
  pin: string,
  suffix: "json" | "txt",
): Reply {
  const base = baseUrl(call, context.settings.publicUrl);
  const url = imageUrl(base, record.id);
  const edit = editUrl(base, record.id, pin);
  const body =
    suffix === "txt" ? `${url}\n` : JSON.stringify({ ...recordBody(base, record), editUrl: edit, pin });
  const headers = {
    "Content-Type": suffix === "txt" ? "text/plain; charset=utf-8" : "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    Location: url,
    Link: createdLinks(base, record, pin, context.renderer),
    "X-Service-Image-Url": url,
    "X-Service-Image-Edit-Url": edit,
    "X-Service-Image-Pin": pin,
    "X-Service-Image-Id": record.id,
  };
  if (record.processing === null) return { status: 201, headers, body };
  const retryAfter = String(retryAfterSeconds(record, context.settings.now()));
  return { status: 202, headers: { ...headers, "Retry-After": retryAfter }, body };
}
