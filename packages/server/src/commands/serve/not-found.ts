import { STATUS_CODES } from "node:http";
import type { Pages, Service } from "@outrigger/core";
import { baseOf, problemReply, reply, wantsHtml } from "./replies.ts";

const DETAIL = "There is nothing at this address.";

/**
 * The last of the services: 404 for everything, a page for people and a problem (RFC 9457) for programs.
 * @param publicUrl as the images have it.
 */
export function createNotFound(pages: Pages, publicUrl: string | undefined): Service {
  return {
    async handle(call) {
      if (!wantsHtml(call)) return problemReply(call, 404, DETAIL, { Vary: "Accept" });
      const page = pages.problem({
        baseUrl: baseOf(call, publicUrl),
        status: 404,
        title: STATUS_CODES[404] ?? "",
        detail: DETAIL,
      });
      return reply(call, 404, "text/html; charset=utf-8", page.html, {
        Vary: "Accept",
        "Content-Security-Policy": page.contentSecurityPolicy,
        "Referrer-Policy": "no-referrer",
      });
    },
  };
}
