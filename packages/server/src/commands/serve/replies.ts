import { STATUS_CODES } from "node:http";
import type { Call, Reply } from "@outrigger/core";

/** A reply that caches do not store; without a body for HEAD. */
export function reply(
  call: Pick<Call, "method">,
  status: number,
  contentType: string,
  body: string,
  headers: Reply["headers"] = {},
): Reply {
  const all = {
    "Content-Type": contentType,
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...headers,
  };
  return call.method === "HEAD" ? { status, headers: all } : { status, headers: all, body };
}

export function jsonReply(
  call: Pick<Call, "method">,
  status: number,
  value: unknown,
  headers: Reply["headers"] = {},
): Reply {
  return reply(call, status, "application/json; charset=utf-8", JSON.stringify(value), headers);
}

/** A problem reply (RFC 9457). */
export function problemReply(
  call: Call,
  status: number,
  detail: string,
  headers: Reply["headers"] = {},
): Reply {
  const problem = {
    type: "about:blank",
    title: STATUS_CODES[status],
    status,
    detail,
    instance: call.mountPath + call.path,
  };
  return reply(call, status, "application/problem+json; charset=utf-8", JSON.stringify(problem), headers);
}

/** The reply to a method other than GET and HEAD; `null` for those two. */
export function methodRefusal(call: Call): Reply | null {
  if (call.method === "GET" || call.method === "HEAD") return null;
  const Allow = "GET, HEAD, OPTIONS";
  if (call.method === "OPTIONS") return { status: 204, headers: { Allow } };
  return problemReply(call, 405, `Here only ${Allow} are permitted.`, { Allow });
}

/** Absolute URL of the mount, without a trailing slash. */
export function baseOf(call: Call, publicUrl: string | undefined): string {
  return (publicUrl ?? call.origin + call.mountPath).replace(/\/$/, "");
}

/** Whether the client is a browser: it names `text/html`, while programs accept anything. */
export function wantsHtml(call: Call): boolean {
  return call.headers.accept?.includes("text/html") ?? false;
}
