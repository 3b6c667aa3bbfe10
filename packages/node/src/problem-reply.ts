import type { Reply } from "@outrigger/core";

/** A reply of an adapter itself, as `application/problem+json` (RFC 9457). */
export function problemReply(method: string | undefined, status: number, title: string): Reply {
  const body = JSON.stringify({ type: "about:blank", title, status });
  const headers = {
    "Content-Type": "application/problem+json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  };
  return method === "HEAD" ? { status, headers } : { status, headers, body };
}
