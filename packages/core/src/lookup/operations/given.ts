import { LookupProblem, type LookupProblemId } from "../lookup-problem.ts";
import {
  LOOKUP_PARAMETERS,
  MAX_TEXT_LENGTH,
  type WholeSchema,
  type WordSchema,
  type WordsSchema,
} from "./parameters.ts";

/** A parameter of a look-up, by its name in code. `location` and `linkedinHandle` are only rejected. */
export type Parameter = keyof typeof LOOKUP_PARAMETERS | "location" | "linkedinHandle";

/** The unchecked parameters of one look-up. An empty or blank text counts as absent. */
export interface Given {
  /** A parameter's name in the caller's interface, for messages. */
  nameOf(parameter: Parameter): string;
  /** At most as long as {@link MAX_TEXT_LENGTH}; `null` if absent. */
  text(parameter: Parameter): string | null;
  /** `NaN` for a value that is not a number; `null` if absent. */
  number(parameter: Parameter): number | null;
  /** `null` if absent. */
  words(parameter: Parameter): readonly string[] | null;
  /** The caller's unit of durations, in milliseconds. */
  durationUnitMs: number;
}

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
  if (value === null || value.trim() === "") return null;
  if (value.length > MAX_TEXT_LENGTH && [...value].length > MAX_TEXT_LENGTH) {
    throw new LookupProblem("wrong_params", `${name} must have at most ${MAX_TEXT_LENGTH} characters`);
  }
  return value;
}

/** The problem without a parameter, which `linkedin_handle` replaces in the public API. @param what in words. */
export function missing(given: Given, what: string): LookupProblem {
  const handle = given.text("linkedinHandle") === null ? null : given.nameOf("linkedinHandle");
  const why = handle === null ? "" : `; ${handle} is not supported: contacts are not indexed by it`;
  return new LookupProblem("wrong_params", `You are missing ${what} parameter${why}`);
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
  const { minimum, maximum, default: preset, ...schema } = LOOKUP_PARAMETERS.maxDurationMs;
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
