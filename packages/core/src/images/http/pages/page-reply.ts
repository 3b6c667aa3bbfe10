import Negotiator from "negotiator";
import type { Call, Reply } from "../../../contracts/call.ts";
import type { Page, Pages } from "../../../contracts/pages.ts";
import { ServiceError } from "../../../errors.ts";
import type { ImageContext } from "../image-context.ts";

/** Rejects with `not_implemented` where there are none. */
export function requirePages({ pages }: ImageContext): Pages {
  if (pages === null) throw new ServiceError("not_implemented", "This service has no pages");
  return pages;
}

/** A page as a reply. */
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

/** Whether a client would rather have a page than the picture: a browser's address bar, not its `<img>`, not curl. */
export function prefersHtml(call: Call, otherwise: string): boolean {
  if (!call.headers.accept?.includes("text/html")) return false;
  return new Negotiator({ headers: call.headers }).mediaType([otherwise, "text/html"]) === "text/html";
}
