import type { ApiDocument } from "@outrigger/core";
import { organizationDomain } from "@outrigger/core/lookup";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonSchema } from "../../packages/core/src/schema/json-schema.ts";

/** Validates by the schemas of a document. */
export interface Schemas {
  /** The fault of a value; `null`: none. */
  faultOf(schema: JsonSchema, value: unknown): string | null;
  /** Like `faultOf`, for an answer: fields without a description are a fault too. */
  faultOfAnswer(schema: JsonSchema, value: unknown): string | null;
}

export function createSchemas({ components }: ApiDocument): Schemas {
  const asWritten = compilerOf(components.schemas ?? {});
  const closed = Object.entries(components.schemas ?? {}).map(([name, schema]) => [name, closedOf(schema)]);
  const strict = compilerOf(Object.fromEntries(closed));
  return {
    faultOf: (schema, value) => asWritten(schema, value, schema),
    faultOfAnswer: (schema, value) => strict(schema, value, closedOf(schema)),
  };
}

/** Compiles each schema once; `key` is the schema object in the document. */
function compilerOf(named: Readonly<Record<string, JsonSchema>>) {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  formats.default(ajv);
  ajv.addFormat("binary", true);
  ajv.addFormat("domain", (text) => organizationDomain(text) !== null);
  ajv.addSchema({ $id: "document", components: { schemas: named } });
  const compiled = new WeakMap<JsonSchema, ValidateFunction>();
  return (key: JsonSchema, value: unknown, schema: JsonSchema): string | null => {
    let validate = compiled.get(key);
    if (validate === undefined) {
      validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/comp', '"document#/comp')));
      compiled.set(key, validate);
    }
    return validate(value) ? null : ajv.errorsText(validate.errors);
  };
}

/** The schema, changed to refuse fields that it does not describe. */
function closedOf(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, ...others } = schema;
  return {
    ...others,
    ...(items === undefined ? {} : { items: closedOf(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(closedOf) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, each]) => [name, closedOf(each)]),
          ),
          additionalProperties: others.additionalProperties ?? false,
        }),
  };
}
