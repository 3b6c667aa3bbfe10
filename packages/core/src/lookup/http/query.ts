import { LookupProblem } from "../lookup-problem.ts";
import { memoized } from "../memoized.ts";
import { type Given, type Parameter, presentText } from "../operations/given.ts";

/** The parameters of a request. Of a repeated one, the first that is not blank counts. */
export interface Query extends Given {
  /** A parameter by its name in the query; `null` if it is absent. */
  parameter(name: string): string | null;
}

/** The name of a parameter in a query. */
export const queryName = memoized((parameter: Parameter) =>
  parameter === "maxDurationMs"
    ? "max_duration"
    : parameter.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);

const DIGITS = /^\d{1,15}$/;

/** Rejects a query that is not UTF-8 with `wrong_params`. */
export function readQuery(search: string): Query {
  requireUtf8(search);
  const parameters = new URLSearchParams(search);
  const parameter = (name: string) =>
    presentText(name, parameters.getAll(name).find((each) => each.trim() !== "") ?? null);
  const text = (name: Parameter) => parameter(queryName(name));
  return {
    parameter,
    nameOf: queryName,
    text,
    number(name) {
      const digits = text(name);
      if (digits === null) return null;
      return DIGITS.test(digits) ? Number(digits) : Number.NaN;
    },
    words: (name) => text(name)?.split(/[,;]/) ?? null,
    durationUnitMs: 1000,
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
