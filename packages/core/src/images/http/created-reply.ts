import type { Call, Reply } from "../../contracts/call.ts";
import type { Renderer } from "../../contracts/renderer.ts";
import { retryAfterMs } from "../library/find-image.ts";
import { ALL_FORMATS, FORMATS } from "../record/formats.ts";
import { addedDetailsOf, editUrl, formatUrl, imageUrl, isServable } from "../record/image-links.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { baseUrl, type ImageContext } from "./image-context.ts";

/** The reply to an upload: 201 for a ready image, 202 for one that is still processed. Addresses are the same. */
export function createdReply(
  context: ImageContext,
  call: Call,
  record: ImageRecord,
  pin: string,
  suffix: "json" | "txt",
): Reply {
  const base = baseUrl(context, call);
  const url = imageUrl(base, record.id);
  const body = suffix === "txt" ? `${url}\n` : JSON.stringify(addedDetailsOf(base, record, pin));
  const headers = {
    "Content-Type": suffix === "txt" ? "text/plain; charset=utf-8" : "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    Location: url,
    Link: createdLinks(base, record, pin, context.library.renderer),
    "X-Service-Image-Url": url,
    "X-Service-Image-Edit-Url": editUrl(base, record.id, pin),
    "X-Service-Image-Pin": pin,
    "X-Service-Image-Id": record.id,
  };
  if (record.processing === null) return { status: 201, headers, body };
  const retryAfter = String(retryAfterMs(record, context.settings.now()) / 1000);
  return { status: 202, headers: { ...headers, "Retry-After": retryAfter }, body };
}

/** `Link` of a new image (RFC 8288, which replaced RFC 5988): record, alternate formats, edit form. */
function createdLinks(base: string, record: ImageRecord, pin: string, renderer: Renderer): string {
  const links = [`<${formatUrl(base, record.id, "json")}>; rel="describedby"; type="application/json"`];
  for (const format of ALL_FORMATS) {
    if (!isServable(renderer, record, format)) continue;
    links.push(`<${formatUrl(base, record.id, format)}>; rel="alternate"; type="${FORMATS[format].type}"`);
  }
  links.push(`<${editUrl(base, record.id, pin)}>; rel="edit-form"`);
  return links.join(", ");
}
