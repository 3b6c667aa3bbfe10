import { normaliseName } from "@outrigger/core/lookup";

/** What names of people are found by; `null` for what is no name of two parts. */
export function nameKey(firstName: string | null, lastName: string | null): string | null {
  if (firstName === null || lastName === null) return null;
  const [first, last] = [normaliseName(firstName), normaliseName(lastName)];
  return first === "" || last === "" ? null : `${first} ${last}`;
}
