import type { JsonSchema, JsonValue } from "../schema/json-schema.ts";

/** An OpenAPI document, as far as ours goes. */
export interface ApiDocument {
  readonly openapi: string;
  readonly jsonSchemaDialect: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
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

/** What one service tells of itself; see {@link describeApi}. */
export interface ApiPart {
  /** What the service is, in a few words. */
  readonly title: string;
  /** Markdown. */
  readonly description: string;
  readonly tags: readonly ApiTag[];
  readonly paths: Readonly<Record<string, PathItem>>;
  /** Their names are unlike those of other services, except for what is the same. */
  readonly components: ApiComponents;
}

export type Method = "get" | "head" | "post" | "patch" | "delete";

export interface PathItem extends Partial<Readonly<Record<Method, ApiOperation>>> {
  readonly parameters?: readonly ApiParameter[];
  /** What all methods get that are not described here. */
  readonly "x-other-methods"?: ApiResponse;
}

export interface ApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: ApiRequestBody;
  /** Any of these; an empty one asks for nothing. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** By status. */
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

export interface ApiParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  /** Whether an empty value is as if the parameter were left out. */
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
  /** By media type; absent: no body. */
  readonly content?: Readonly<Record<string, ApiMedia>>;
}

export interface ApiHeader {
  readonly $ref?: string;
  readonly description?: string;
  /** Whether every such response has it. */
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
