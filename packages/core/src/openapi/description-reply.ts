import { createHash } from "node:crypto";
import type { Call, Reply } from "../contracts/call.ts";
import { evaluatePreconditions } from "../http/conditional.ts";
import type { ApiDocument } from "./document.ts";

/** A document as a reply to GET or HEAD, 304 where the client has it already. */
export function descriptionReply(call: Call, document: ApiDocument): Reply {
  const body = JSON.stringify(document);
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  const headers = {
    // Options of the host change it, and its address depends on the host's name.
    "Cache-Control": "no-cache",
    ETag: etag,
    "X-Content-Type-Options": "nosniff",
  };
  const wanted = call.headers["if-none-match"];
  const condition = wanted === undefined ? {} : { "if-none-match": wanted };
  if (evaluatePreconditions(call.method, condition, { etag, lastModifiedMs: 0 }) === "not_modified") {
    return { status: 304, headers };
  }
  const all = {
    ...headers,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
  };
  return call.method === "HEAD" ? { status: 200, headers: all } : { status: 200, headers: all, body };
}
