import type { Call, Reply } from "../../contracts/call.ts";
import { retryAfterMs } from "../library/find-image.ts";
import { detailsOf } from "../record/image-links.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { baseUrl, type ImageContext } from "./image-context.ts";
import { pageReply, prefersHtml } from "./pages/page-reply.ts";
import { sunsetHeader } from "./prepared-read.ts";

/**
 * The reply of an image that is still processed: 202 with the record, or a page that reloads itself.
 * @param mayBePage Whether clients that prefer HTML get the page.
 */
export function processingReply(
  context: ImageContext,
  call: Call,
  record: ImageRecord,
  mayBePage: boolean,
): Reply {
  const { pages, settings } = context;
  const seconds = String(retryAfterMs(record, settings.now()) / 1000);
  const headers = {
    "Cache-Control": "no-store",
    "Retry-After": seconds,
    ...sunsetHeader(record),
  };
  if (pages !== null && mayBePage && prefersHtml(call, "application/json")) {
    const page = pages.problem({
      baseUrl: baseUrl(context, call),
      status: 202,
      title: "Processing",
      detail: "This image is still being processed. This page refreshes automatically.",
    });
    return pageReply(call, page, 202, { ...headers, Refresh: seconds });
  }
  const body = JSON.stringify(detailsOf(baseUrl(context, call), record));
  const jsonHeaders = {
    ...headers,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Content-Type-Options": "nosniff",
  };
  return call.method === "HEAD"
    ? { status: 202, headers: jsonHeaders }
    : { status: 202, headers: jsonHeaders, body };
}
