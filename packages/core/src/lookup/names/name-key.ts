import { PARTICLES } from "./name-words.ts";
import { normaliseName } from "./normalise-name.ts";
import { type PersonName, plainName } from "./plain-name.ts";

/** Shorter surnames begin too many others. */
const MIN_SURNAME_LENGTH = 3;

/** The first of several surnames; `null` for a single one, and for one that begins with a particle. */
export function firstSurname(lastName: string): string | null {
  const [first = "", second] = plainName({ firstName: "", lastName }).lastName.split(/\s+/);
  const isSurname = first.length >= MIN_SURNAME_LENGTH && !PARTICLES.has(first.toLowerCase());
  return second !== undefined && isSurname ? first : null;
}

/** Whether one name has a further surname after the one of the other. */
export function haveSameFirstSurname(one: PersonName, other: PersonName): boolean {
  const [key, otherKey] = [one, other].map(({ firstName, lastName }) => nameKey(firstName, lastName));
  const shortened = ({ firstName, lastName }: PersonName) => nameKey(firstName, firstSurname(lastName) ?? "");
  return key !== null && otherKey !== null && (shortened(one) === otherKey || shortened(other) === key);
}

/** The normalised key by which a person's name is found; `null` if either name has no letters. */
export function nameKey(firstName: string, lastName: string): string | null {
  const plain = plainName({ firstName, lastName });
  const [first, last] = [normaliseName(plain.firstName), normaliseName(plain.lastName)];
  return first === "" || last === "" ? null : `${first} ${last}`;
}
