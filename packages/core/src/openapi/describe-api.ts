import type { JsonSchema } from "../schema/json-schema.ts";
import type { ApiComponents, ApiDocument, ApiPart, ApiResponse, PathItem } from "./document.ts";
import { HEAD_TAG, headOf } from "./head-of.ts";
import { headerComponents, headersOf } from "./headers.ts";

/** Path of the description, below the mount point. */
export const DESCRIPTION_PATH = "/api/openapi.json";

/** The data about a site that its document needs. */
export interface DescribedSite {
  version: string;
  /** The refusals of the description's own URL, by status. */
  refusals: Readonly<Record<string, ApiResponse>>;
  /** Schemas that these refusals need, and that no part defines. */
  schemas?: Readonly<Record<string, JsonSchema>>;
  /** The answer to methods other than GET and HEAD. */
  otherMethods: ApiResponse;
}

/** The services of one mount point as one OpenAPI document, without the URL of the server. */
export function describeApi(parts: readonly ApiPart[], site: DescribedSite): Omit<ApiDocument, "servers"> {
  const paths: ApiDocument["paths"] = {
    ...Object.assign({}, ...parts.map((part) => part.paths)),
    [DESCRIPTION_PATH]: descriptionPath(site),
  };
  return {
    openapi: "3.1.1",
    jsonSchemaDialect: "https://spec.openapis.org/oas/3.1/dialect/base",
    info: {
      title: titleOf(parts),
      version: site.version,
      description: parts.map(({ description }) => description).join("\n\n"),
      license: { name: "MIT", identifier: "MIT" },
    },
    tags: [...parts.flatMap(({ tags }) => tags), DESCRIPTION_TAG, HEAD_TAG],
    paths,
    components: mergedComponents(parts, site, headerComponents(paths)),
  };
}

/** The title is one sentence: only its first word begins with a capital. */
function titleOf([first, ...others]: readonly ApiPart[]): string {
  const titles = others.map(({ title }) => title.charAt(0).toLowerCase() + title.slice(1));
  return [first?.title ?? "API", ...titles].join(" and ");
}

const DESCRIPTION_TAG = { name: "Description", description: "The API in machine-readable form." };

function descriptionPath({ refusals, otherMethods }: DescribedSite): PathItem {
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
      "200": {
        description: "The document.",
        headers: headersOf("Cache-Control", "ETag"),
        content: {
          "application/json": {
            schema: {
              type: "object",
              additionalProperties: true,
              properties: {
                openapi: { type: "string" },
                info: { type: "object" },
                paths: { type: "object" },
              },
              required: ["openapi", "info", "paths"],
            },
          },
        },
      },
      "304": { description: "The document has not changed.", headers: headersOf("Cache-Control", "ETag") },
      ...refusals,
    },
  } as const;
  return { get, head: headOf(get), "x-other-methods": otherMethods };
}

function mergedComponents(
  parts: readonly ApiPart[],
  { schemas }: DescribedSite,
  headers: NonNullable<ApiComponents["headers"]>,
): ApiComponents {
  const merge = <K extends "schemas" | "securitySchemes">(kind: K): NonNullable<ApiComponents[K]> =>
    Object.assign({}, ...parts.map(({ components }) => components[kind] ?? {}));
  return {
    schemas: { ...merge("schemas"), ...schemas },
    headers,
    securitySchemes: merge("securitySchemes"),
  };
}
