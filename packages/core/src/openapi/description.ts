import { createHash } from "node:crypto";
import type { Call, Reply } from "../contracts/call.ts";
import { evaluatePreconditions } from "../http/conditional.ts";
import type { ApiDocument } from "./document.ts";

/** A document that is the same wherever it is served from, but for its own address. */
export interface Description {
  /**
   * Answers GET and HEAD, with 304 where the client has it already.
   * @param baseUrl Absolute URL of the mount point, without a trailing slash.
   */
  reply(call: Call, baseUrl: string): Reply;
}

interface Texts {
  beforeServers: string;
  afterServers: string;
  hash: string;
}

/** @param describe makes the document, once, when it is first asked for: that takes as long as a hundred other replies. */
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
  const servers = JSON.stringify([{ url: baseUrl }] satisfies ApiDocument["servers"]);
  const body = `${texts.beforeServers},"servers":${servers},${texts.afterServers}`;
  const all = {
    ...headers,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
  };
  return call.method === "HEAD" ? { status: 200, headers: all } : { status: 200, headers: all, body };
}
