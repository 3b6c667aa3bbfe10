import type { JsonSchema, JsonValue } from "../schema/json-schema.ts";

/** An OpenAPI document, limited to the features used here. */
export interface ApiDocument {
  readonly openapi: string;
  readonly jsonSchemaDialect: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly ApiTag[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: ApiComponents;
}

export interface ApiTag {
  readonly name: string;
  readonly description: string;
}

export interface ApiComponents {
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  readonly headers?: Readonly<Record<string, ApiHeader>>;
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
}

/** One service's part of the description; see {@link describeApi}. */
export interface ApiPart {
  /** The service in a few words. */
  readonly title: string;
  /** Markdown. */
  readonly description: string;
  readonly tags: readonly ApiTag[];
  readonly paths: Readonly<Record<string, PathItem>>;
  /** Their names differ from those of other services, except for shared components. */
  readonly components: ApiComponents;
}

/** A service that can describe its part of the API: images or lookup. */
export interface Described {
  describe(): ApiPart;
}

export type Method = "get" | "head" | "post" | "patch" | "delete";

export interface PathItem extends Partial<Readonly<Record<Method, ApiOperation>>> {
  readonly parameters?: readonly ApiParameter[];
}

export interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: ApiRequestBody;
  /** Any of these is sufficient; an empty one, or an empty list, requires no key. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** Responses by status. */
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

export interface ApiParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  /** Whether an empty value counts as absent. */
  readonly allowEmptyValue?: boolean;
  readonly style?: "form";
  readonly explode?: boolean;
  readonly schema: JsonSchema;
  readonly example?: JsonValue;
}

export interface ApiRequestBody {
  readonly required?: boolean;
  readonly description?: string;
  readonly content: Readonly<Record<string, ApiMedia>>;
}

export interface ApiMedia {
  readonly schema?: JsonSchema;
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
  readonly example?: JsonValue;
}

export interface ApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, ApiHeader>>;
  /** Content by media type; absent: no body. */
  readonly content?: Readonly<Record<string, ApiMedia>>;
}

export interface ApiHeader {
  readonly $ref?: string;
  readonly description?: string;
  /** Whether every such response has the header. */
  readonly required?: boolean;
  readonly schema?: JsonSchema;
}

export type SecurityScheme =
  | {
      readonly type: "apiKey";
      readonly in: "query" | "header";
      readonly name: string;
      readonly description: string;
    }
  | { readonly type: "http"; readonly scheme: "bearer"; readonly description: string };
