/** A person's name in two parts. */
export interface PersonName {
  firstName: string;
  lastName: string;
}

/** @returns `null` for what is not at least two names. */
export function parseFullName(text: string): PersonName | null {
  const words = text.trim().split(/\s+/);
  const lastName = words.pop();
  return lastName === undefined || words.length === 0 ? null : { firstName: words.join(" "), lastName };
}
