import { LookupProblem } from "../lookup-problem.ts";
import { type Given, type Parameter, presentText } from "../operations/given.ts";

/** The parameters of a request. Of a repeated one, the first that is not blank counts. */
export interface Query extends Given {
  /** A parameter by its name in the query; `null` if it is absent. */
  parameter(name: string): string | null;
}

const NAMES: Partial<Record<Parameter, string>> = {
  firstName: "first_name",
  lastName: "last_name",
  fullName: "full_name",
  requiredField: "required_field",
  verificationStatus: "verification_status",
  jobTitles: "job_titles",
  maxDurationMs: "max_duration",
};
const nameOf = (parameter: Parameter) => NAMES[parameter] ?? parameter;
const DIGITS = /^\d{1,15}$/;

/** Rejects a query that is not UTF-8 with `wrong_params`. */
export function readQuery(search: string): Query {
  requireUtf8(search);
  const parameters = new URLSearchParams(search);
  const parameter = (name: string) =>
    presentText(name, parameters.getAll(name).find((each) => each.trim() !== "") ?? null);
  const text = (name: Parameter) => parameter(nameOf(name));
  return {
    parameter,
    nameOf,
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
