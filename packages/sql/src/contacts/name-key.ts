import { normaliseName } from "@outrigger/core/lookup";

/** The normalised key by which a person's name is found; `null` without both a first and a last name. */
export function nameKey(firstName: string | null, lastName: string | null): string | null {
  if (firstName === null || lastName === null) return null;
  const [first, last] = [normaliseName(firstName), normaliseName(lastName)];
  return first === "" || last === "" ? null : `${first} ${last}`;
}
