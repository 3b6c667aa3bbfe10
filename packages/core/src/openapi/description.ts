import { createHash } from "node:crypto";
import type { Call, Reply } from "../contracts/call.ts";
import { evaluatePreconditions } from "../http/conditional.ts";
import type { ApiDocument } from "./document.ts";

/** A document that depends on the site only in its server URL. */
export interface Description {
  /**
   * Answers GET and HEAD; 304 if the client's copy is current.
   * @param baseUrl Absolute URL of the mount point, without a trailing slash.
   */
  reply(call: Call, baseUrl: string): Reply;
}

interface Texts {
  beforeServers: string;
  afterServers: string;
  hash: string;
}

/**
 * @param describe creates the document; called once, at the first request, because it takes as long as a
 * hundred other replies.
 */
export function createDescription(describe: () => Omit<ApiDocument, "servers">): Description {
  let texts: Texts | null = null;
  return {
    reply(call, baseUrl) {
      texts ??= textsOf(describe());
      return descriptionReply(call, baseUrl, texts);
    },
  };
}

function textsOf({ openapi, jsonSchemaDialect, info, ...rest }: Omit<ApiDocument, "servers">): Texts {
  const beforeServers = JSON.stringify({ openapi, jsonSchemaDialect, info }).slice(0, -1);
  const afterServers = JSON.stringify(rest).slice(1);
  const hash = createHash("sha256").update(beforeServers).update(afterServers).digest("base64url");
  return { beforeServers, afterServers, hash };
}

function descriptionReply(call: Call, baseUrl: string, texts: Texts): Reply {
  const etag = `"${createHash("sha256").update(texts.hash).update(baseUrl).digest("base64url").slice(0, 22)}"`;
  const headers = {
    // The host's options change it, and its server URL depends on the host name.
    "Cache-Control": "no-cache",
    ETag: etag,
    "X-Content-Type-Options": "nosniff",
  };
  const wanted = call.headers["if-none-match"];
  const condition = wanted === undefined ? {} : { "if-none-match": wanted };
  if (evaluatePreconditions(call.method, condition, { etag, lastModifiedMs: 0 }) === "not_modified") {
    return { status: 304, headers };
  }
  const servers = JSON.stringify([{ url: baseUrl }] satisfies ApiDocument["servers"]);
  const body = `${texts.beforeServers},"servers":${servers},${texts.afterServers}`;
  const all = {
    ...headers,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
  };
  return call.method === "HEAD" ? { status: 200, headers: all } : { status: 200, headers: all, body };
}
