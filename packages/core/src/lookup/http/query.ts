import type { JsonSchema } from "../../schema/json-schema.ts";
import type { LookupErrorId } from "./lookup-problem.ts";
import { LookupProblem } from "./lookup-problem.ts";

/** The parameters of a request: an empty one is absent, of a repeated one the first counts. */
export interface Query {
  /** `null` where it is absent. */
  text(name: string): string | null;
}

/** Any parameter: none needs more. */
export const TEXT_SCHEMA = { type: "string", maxLength: 1000 } as const satisfies JsonSchema;

/** A parameter that is a whole number. */
export interface WholeSchema extends JsonSchema {
  readonly type: "integer";
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
}

/** The largest number that is read. */
export const LARGEST_WHOLE = 999_999_999_999_999;
const DIGITS = /^\d{1,15}$/;

/** A parameter that is one of some words. */
export interface WordSchema<T extends string> extends JsonSchema {
  readonly type: "string";
  readonly enum: readonly T[];
}

/** A parameter that is some of some words. */
export interface WordsSchema<T extends string> extends JsonSchema {
  readonly type: "array";
  readonly items: WordSchema<T>;
}

/** Rejects with `wrong_params` what is not UTF-8. */
export function readQuery(search: string): Query {
  requireUtf8(search);
  const parameters = new URLSearchParams(search);
  return {
    text(name) {
      const value = parameters.getAll(name).find((each) => each.trim() !== "") ?? null;
      const { maxLength } = TEXT_SCHEMA;
      if (value !== null && value.length > maxLength && [...value].length > maxLength) {
        throw new LookupProblem("wrong_params", `${name} must have at most ${maxLength} characters`);
      }
      return value;
    },
  };
}

function requireUtf8(search: string): void {
  if (!search.includes("%")) return;
  try {
    decodeURIComponent(search.replaceAll("+", " "));
  } catch {
    throw new LookupProblem("wrong_params", "The query is not valid percent-encoded UTF-8");
  }
}

/** A whole number of decimal digits. */
export function wholeParameter(query: Query, name: string, schema: WholeSchema, id: LookupErrorId): number {
  const { minimum, maximum } = schema;
  const text = query.text(name);
  if (text === null) return schema.default;
  const value = DIGITS.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  const upTo = maximum === LARGEST_WHOLE ? "" : ` to ${maximum}`;
  throw new LookupProblem(id, `${name} must be a whole number from ${minimum}${upTo}`);
}

/** One of some words. */
export function wordParameter<T extends string>(
  query: Query,
  name: string,
  schema: WordSchema<T>,
  id: LookupErrorId,
): T | null {
  const text = query.text(name)?.trim().toLowerCase();
  if (text === undefined) return null;
  const word = schema.enum.find((each) => each === text);
  if (word !== undefined) return word;
  throw new LookupProblem(id, `${name} must be one of ${schema.enum.join(", ")}`);
}

/** Some of some words, separated by commas, each once and in order, so that equal lists are equal. */
export function wordsParameter<T extends string>(
  query: Query,
  name: string,
  schema: WordsSchema<T>,
  id: LookupErrorId,
): T[] | null {
  const words = schema.items.enum;
  const text = query.text(name);
  if (text === null) return null;
  const given = text
    .split(",")
    .map((each) => each.trim().toLowerCase())
    .filter((each) => each !== "");
  const found = words.filter((word) => given.includes(word));
  if (given.length === 0 || given.some((each) => !words.some((word) => word === each))) {
    throw new LookupProblem(id, `${name} must be one of ${words.join(", ")}`);
  }
  return found;
}
