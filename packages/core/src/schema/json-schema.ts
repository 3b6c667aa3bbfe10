type JsonType = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** A schema of JSON Schema 2020-12, limited to the keywords that the descriptions use. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: JsonType | readonly JsonType[];
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: string | number | boolean | null;
  readonly default?: JsonValue;
  readonly examples?: readonly JsonValue[];
  readonly format?: string;
  /** An ECMAScript regular expression with the flag `u`. */
  readonly pattern?: string;
  /** In code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly contentMediaType?: string;
}

/** A schema's pattern as a regular expression, for validation. */
export function patternOf({ pattern }: { readonly pattern: string }): RegExp {
  return new RegExp(pattern, "u");
}

/** Whether a text is one of a schema's enum values. */
export function isWordOf<T extends string>(
  schema: { readonly enum: readonly T[] },
  value: unknown,
): value is T {
  return schema.enum.some((word) => word === value);
}

/** An optional form field: an empty text counts as absent. */
export function optionalText(schema: JsonSchema): JsonSchema {
  if (schema.enum !== undefined) return { ...schema, enum: [...schema.enum, ""] };
  return schema.pattern === undefined ? schema : { ...schema, pattern: `${schema.pattern}|^$` };
}

/** An optional field of a JSON body: null and an empty text count as absent. */
export function optionalField(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { enum: ["", null] }] };
}
