import Negotiator from "negotiator";
import type { Call, Reply } from "../../../contracts/call.ts";
import type { Page, Pages } from "../../../contracts/pages.ts";
import { ServiceError } from "../../../errors.ts";
import type { ImageContext } from "../image-context.ts";

/** The pages of the service. Throws `not_implemented` without pages. */
export function requirePages({ pages }: ImageContext): Pages {
  if (pages === null) throw new ServiceError("not_implemented", "This service has no pages");
  return pages;
}

/** A reply with a page. */
export function pageReply(
  call: Call,
  page: Page,
  status: number,
  headers: Record<string, string | string[]>,
): Reply {
  const all = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(page.html)),
    "Content-Security-Policy": page.contentSecurityPolicy,
    "X-Content-Type-Options": "nosniff",
    ...headers,
  };
  return call.method === "HEAD" ? { status, headers: all } : { status, headers: all, body: page.html };
}

/** Whether a client prefers a page to the picture: a browser's address bar does; its `<img>` and curl do not. */
export function prefersHtml(call: Call, otherwise: string): boolean {
  if (!call.headers.accept?.includes("text/html")) return false;
  return new Negotiator({ headers: call.headers }).mediaType([otherwise, "text/html"]) === "text/html";
}
