import { nameKey as keyOfName, spellingKey } from "@outrigger/core/lookup";

/** The normalised key by which a person's name is found; `null` without both a first and a last name. */
export function nameKey(firstName: string | null, lastName: string | null): string | null {
  return firstName === null || lastName === null ? null : keyOfName(firstName, lastName);
}

/** The key of all usual spellings of a person's name; `null` where {@link nameKey} is. */
export function spellingKeyOf(firstName: string | null, lastName: string | null): string | null {
  if (firstName === null || lastName === null) return null;
  return spellingKey(firstName, lastName);
}
