import type { JsonSchema } from "../../schema/json-schema.ts";
import { LookupProblem, type LookupProblemId } from "../lookup-problem.ts";

/** The parameters of look-ups: their names in code and in a query. */
export const QUERY_NAMES = {
  domain: "domain",
  company: "company",
  type: "type",
  seniority: "seniority",
  department: "department",
  requiredField: "required_field",
  verificationStatus: "verification_status",
  jobTitles: "job_titles",
  location: "location",
  limit: "limit",
  offset: "offset",
  firstName: "first_name",
  lastName: "last_name",
  fullName: "full_name",
  email: "email",
  maxDurationMs: "max_duration",
};
export type Parameter = keyof typeof QUERY_NAMES;

/** The unchecked parameters of one look-up. An empty or blank text counts as absent. */
export interface Given {
  /** A parameter's name in the caller's interface, for messages. */
  nameOf(parameter: Parameter): string;
  /** At most as long as {@link TEXT_SCHEMA} allows; `null` if absent. */
  text(parameter: Parameter): string | null;
  /** `NaN` for a value that is not a number; `null` if absent. */
  number(parameter: Parameter): number | null;
  /** `null` if absent. */
  words(parameter: Parameter): readonly string[] | null;
  /** The caller's unit of durations, in milliseconds. */
  durationUnitMs: number;
}

/** Schema of every text parameter. */
export const TEXT_SCHEMA = { type: "string", maxLength: 1000 } as const satisfies JsonSchema;

/** A parameter that is a whole number. */
export interface WholeSchema extends JsonSchema {
  readonly type: "integer";
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
}

/** The largest accepted number. */
export const LARGEST_WHOLE = 999_999_999_999_999;

/** A parameter with one word of a fixed set. */
export interface WordSchema<T extends string> extends JsonSchema {
  readonly type: "string";
  readonly enum: readonly T[];
}

/** A parameter with several words of a fixed set. */
export interface WordsSchema<T extends string> extends JsonSchema {
  readonly type: "array";
  readonly items: WordSchema<T>;
}

/** The parameter `max_duration`. */
export const MAX_DURATION_SCHEMA = {
  type: "integer",
  minimum: 3,
  maximum: 20,
  default: 10,
  description: "Maximum time to wait for mail servers, in seconds.",
} as const satisfies WholeSchema;

/** The parameters of a library call. */
export function readArguments(values: object): Given {
  const valueAt = (name: Parameter): unknown => Reflect.get(values, name) ?? null;
  return {
    nameOf: (name) => name,
    text(name) {
      const value = valueAt(name);
      if (value !== null && typeof value !== "string") {
        throw new LookupProblem("wrong_params", `${name} must be a string`);
      }
      return presentText(name, value);
    },
    number(name) {
      const value = valueAt(name);
      return value === null || typeof value === "number" ? value : Number.NaN;
    },
    words(name) {
      const value = valueAt(name);
      if (!Array.isArray(value)) return value === null ? null : [];
      return value.length === 0 ? null : value.map(String);
    },
    durationUnitMs: 1,
  };
}

/** `null` for an absent text. Rejects with `wrong_params` if it is too long. */
export function presentText(name: string, value: string | null): string | null {
  const { maxLength } = TEXT_SCHEMA;
  if (value === null || value.trim() === "") return null;
  if (value.length > maxLength && [...value].length > maxLength) {
    throw new LookupProblem("wrong_params", `${name} must have at most ${maxLength} characters`);
  }
  return value;
}

/** A whole number within the bounds of its schema. */
export function wholeOf(given: Given, name: Parameter, schema: WholeSchema, id: LookupProblemId): number {
  const { minimum, maximum } = schema;
  const value = given.number(name) ?? schema.default;
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new LookupProblem(id, `${given.nameOf(name)} must be a whole number from ${minimum} to ${maximum}`);
}

/** How long the caller waits for mail servers, in milliseconds. */
export function waitMsOf(given: Given): number {
  const { durationUnitMs } = given;
  const units = 1000 / durationUnitMs;
  const { minimum, maximum, default: preset, ...schema } = MAX_DURATION_SCHEMA;
  const scaled = { ...schema, minimum: minimum * units, maximum: maximum * units, default: preset * units };
  return durationUnitMs * wholeOf(given, "maxDurationMs", scaled, "invalid_max_duration");
}

/** One word of a fixed set. Case and surrounding blanks are ignored. */
export function wordOf<T extends string>(
  given: Given,
  name: Parameter,
  schema: WordSchema<T>,
  id: LookupProblemId,
): T | null {
  const text = given.text(name)?.trim().toLowerCase();
  if (text === undefined) return null;
  const word = schema.enum.find((each) => each === text);
  if (word !== undefined) return word;
  throw new LookupProblem(id, `${given.nameOf(name)} must be one of ${schema.enum.join(", ")}`);
}

/** Words of a fixed set, each once and in the schema's order, so that equal lists are equal. */
export function wordsOf<T extends string>(
  given: Given,
  name: Parameter,
  schema: WordsSchema<T>,
  id: LookupProblemId,
): T[] | null {
  const words = schema.items.enum;
  const named = given
    .words(name)
    ?.map((each) => each.trim().toLowerCase())
    .filter((each) => each !== "");
  if (named === undefined) return null;
  if (named.length === 0 || named.some((each) => !words.some((word) => word === each))) {
    throw new LookupProblem(id, `${given.nameOf(name)} must be one of ${words.join(", ")}`);
  }
  return words.filter((word) => named.includes(word));
}
