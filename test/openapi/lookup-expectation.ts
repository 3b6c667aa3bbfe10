import { nameFault, parseFullName } from "@outrigger/core/lookup";
import type { Draft } from "./drafts.ts";
import { type Expectation, fits, given, parameterOf } from "./given.ts";
import type { Schemas } from "./schemas.ts";

/** The statements about a call of the lookup. */
export function lookupExpectation(draft: Draft, schemas: Schemas): Expectation {
  const { described, credential, isGarbled } = draft;
  if (isGarbled) return true;
  if (credential !== "right" && described.operation.security?.length !== 0) return null;
  const wrong = (name: string) => {
    const text = given(draft, name);
    const schema = parameterOf(draft, name)?.schema;
    return text !== null && schema !== undefined && !fits(schemas, schema, text);
  };
  const names = described.parameters.map(({ name }) => name).filter((name) => !/_name$/.test(name));
  if (names.some(wrong)) return true;
  if (names.includes("email")) return given(draft, "email") === null;
  if (!names.includes("domain")) return false;
  const company = given(draft, "company");
  if (given(draft, "domain") === null && (company === null || [...company.trim()].length < 3)) return true;
  return described.path.endsWith("/email-finder") && isNamedWrongly(draft, wrong);
}

function isNamedWrongly(draft: Draft, wrong: (name: string) => boolean): boolean {
  const [first, last, full] = ["first_name", "last_name", "full_name"].map((name) => given(draft, name));
  // With both other names, full_name is ignored; with only one of them, that one is ignored.
  const looked = first && last ? { first_name: first, last_name: last } : { full_name: full };
  const isMissing = !(first && last) && !full;
  const isLong = [first, last, full].some((text) => text && [...text].length > 1000);
  return (
    isMissing ||
    isLong ||
    Object.entries(looked).some(([name, text]) => wrong(name) || nameFault(text ?? "") !== null) ||
    (!(first && last) && parseFullName(full ?? "") === null)
  );
}
