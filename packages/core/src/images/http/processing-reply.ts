import type { Call, Reply } from "../../contracts/call.ts";
import { isClaimed } from "../processing/transitions.ts";
import { baseUrl, recordBody } from "../record/image-links.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { ImageAddress } from "./image-address.ts";
import type { ImageContext } from "./image-context.ts";
import { pageReply, prefersHtml } from "./pages/page-reply.ts";

const MAX_RETRY_AFTER_SECONDS = 30;
/** Whoever has waited for so many seconds need not ask again for another. */
const PATIENCE = 5;

/** What any address of an image answers while it is processed: 202 with the record, or a page that asks again by itself. */
export function processingReply(
  context: ImageContext,
  call: Call,
  address: ImageAddress,
  record: ImageRecord,
): Reply {
  const { jobs, pages, settings } = context;
  // Whoever asks finds out first that who worked on it has died.
  if (record.processing !== null && !isClaimed(record.processing, settings.now())) jobs.enqueue(record);
  const seconds = String(retryAfterSeconds(record, settings.now()));
  const headers = {
    "Cache-Control": "no-store",
    "Retry-After": seconds,
    Sunset: new Date(record.expiresAt).toUTCString(),
  };
  if (pages !== null && address.kind !== "record" && prefersHtml(call, "application/json")) {
    const page = pages.problem({
      baseUrl: baseUrl(call, settings.publicUrl),
      status: 202,
      title: "Processing",
      detail: "This image is still being processed. This page looks again by itself.",
    });
    return pageReply(call, page, 202, { ...headers, Refresh: seconds });
  }
  const body = JSON.stringify(recordBody(baseUrl(call, settings.publicUrl), record));
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

/** When it is worth asking again: soon at first, later for what has taken long already. */
export function retryAfterSeconds({ createdAt }: ImageRecord, now: number): number {
  const waited = Math.ceil((now - createdAt) / 1000 / PATIENCE);
  return Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, waited));
}
