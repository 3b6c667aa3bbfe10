import type { Call, Reply } from "../contracts/call.ts";

/** A reply with a text in UTF-8; HEAD gets its headers. @param type Its media type. */
export function textReply(
  { method }: Call,
  status: number,
  type: string,
  body: string,
  headers: Reply["headers"],
): Reply {
  const all = {
    "Content-Type": `${type}; charset=utf-8`,
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Content-Type-Options": "nosniff",
    ...headers,
  };
  return method === "HEAD" ? { status, headers: all } : { status, headers: all, body };
}
