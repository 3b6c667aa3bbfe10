import { createHash } from "node:crypto";
import type { Call, Reply } from "../contracts/call.ts";
import { evaluatePreconditions } from "../http/conditional.ts";
import { textReply } from "../http/text-reply.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { ApiComponents, ApiDocument, ApiPart, ApiResponse, PathItem } from "./document.ts";
import { headerComponents, headersOf } from "./headers.ts";
import { jsonReply } from "./operations.ts";
import { VERSION } from "./version.ts";

/** Path of the description, below the mount point. */
export const DESCRIPTION_PATH = "/api/openapi.json";

/** The services of one mount point, and how the description's own URL refuses requests. */
interface DescribedSite {
  parts: readonly ApiPart[];
  /** The refusals by status. */
  refusals: Readonly<Record<string, ApiResponse>>;
  /** Schemas that these refusals need, and that no part defines. */
  schemas?: Readonly<Record<string, JsonSchema>>;
}

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
 * @param describe returns the services; called once, at the first request, because a document takes as long as a
 * hundred other replies.
 */
export function createDescription(describe: () => DescribedSite): Description {
  let texts: Texts | null = null;
  return {
    reply(call, baseUrl) {
      texts ??= textsOf(describe());
      return descriptionReply(call, baseUrl, texts);
    },
  };
}

function textsOf(site: DescribedSite): Texts {
  const { openapi, jsonSchemaDialect, info, ...rest } = documentOf(site);
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
  return textReply(call, 200, "application/json", body, headers);
}

/** The services as one OpenAPI document, without the URL of the server. */
function documentOf(site: DescribedSite): Omit<ApiDocument, "servers"> {
  const { parts } = site;
  const [title = "API", ...titles] = parts.map((part) => part.title);
  const paths: ApiDocument["paths"] = {
    ...Object.assign({}, ...parts.map((part) => part.paths)),
    [DESCRIPTION_PATH]: descriptionPath(site),
  };
  const merged = <K extends "schemas" | "securitySchemes">(kind: K): NonNullable<ApiComponents[K]> =>
    Object.assign({}, ...parts.map(({ components }) => components[kind] ?? {}));
  return {
    openapi: "3.1.1",
    jsonSchemaDialect: "https://spec.openapis.org/oas/3.1/dialect/base",
    info: {
      // One sentence: only its first word begins with a capital.
      title: [title, ...titles.map((each) => each.charAt(0).toLowerCase() + each.slice(1))].join(" and "),
      version: VERSION,
      description: parts.map(({ description }) => description).join("\n\n"),
      license: { name: "MIT", identifier: "MIT" },
    },
    tags: [...parts.flatMap(({ tags }) => tags), DESCRIPTION_TAG],
    paths,
    components: {
      schemas: { ...merged("schemas"), ...site.schemas },
      headers: headerComponents(paths),
      securitySchemes: merged("securitySchemes"),
    },
  };
}

const DESCRIPTION_TAG = { name: "Description", description: "The API in machine-readable form." };

function descriptionPath({ refusals }: DescribedSite): PathItem {
  const HEADERS = ["Cache-Control", "ETag"] as const;
  const get = {
    operationId: "getDescription",
    tags: [DESCRIPTION_TAG.name],
    summary: "Get the OpenAPI document",
    description: "The API mounted here, as an OpenAPI 3.1 document.",
    parameters: [
      {
        name: "If-None-Match",
        in: "header",
        description: "The `ETag` of the client's copy: answered with 304 if it is still current.",
        schema: { type: "string" },
      },
    ],
    security: [],
    responses: {
      "200": jsonReply("The document.", DOCUMENT_SCHEMA, ...HEADERS),
      "304": { description: "The document has not changed.", headers: headersOf(...HEADERS) },
      ...refusals,
    },
  } as const;
  return { get };
}

const DOCUMENT_SCHEMA: JsonSchema = {
  type: "object",
  additionalProperties: true,
  properties: { openapi: { type: "string" }, info: { type: "object" }, paths: { type: "object" } },
  required: ["openapi", "info", "paths"],
};
