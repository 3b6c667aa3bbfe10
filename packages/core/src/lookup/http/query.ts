import type { LookupErrorId } from "./lookup-problem.ts";
import { LookupProblem } from "./lookup-problem.ts";

/** The parameters of a request: an empty one is absent, of a repeated one the first counts. */
export interface Query {
  /** `null` where it is absent. */
  text(name: string): string | null;
}

/** No parameter needs more. */
const MAX_LENGTH = 1000;

/** Rejects with `wrong_params` what is not UTF-8. */
export function readQuery(search: string): Query {
  requireUtf8(search);
  const parameters = new URLSearchParams(search);
  return {
    text(name) {
      const value = parameters.getAll(name).find((each) => each.trim() !== "") ?? null;
      if (value !== null && value.length > MAX_LENGTH) {
        throw new LookupProblem("wrong_params", `${name} must have at most ${MAX_LENGTH} characters`);
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
export function wholeParameter(
  query: Query,
  name: string,
  bounds: { min: number; max: number; default: number; id: LookupErrorId },
): number {
  const text = query.text(name);
  if (text === null) return bounds.default;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  const upTo = bounds.max === Number.MAX_SAFE_INTEGER ? "" : ` to ${bounds.max}`;
  throw new LookupProblem(bounds.id, `${name} must be a whole number from ${bounds.min}${upTo}`);
}

/** One of some words. */
export function wordParameter<T extends string>(
  query: Query,
  name: string,
  words: readonly T[],
  id: LookupErrorId,
): T | null {
  const [word, ...others] = wordsParameter(query, name, words, id) ?? [];
  if (others.length > 0) throw new LookupProblem(id, `${name} must be one of ${words.join(", ")}`);
  return word ?? null;
}

/** Some of some words, separated by commas, each once and in order, so that equal lists are equal. */
export function wordsParameter<T extends string>(
  query: Query,
  name: string,
  words: readonly T[],
  id: LookupErrorId,
): T[] | null {
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
