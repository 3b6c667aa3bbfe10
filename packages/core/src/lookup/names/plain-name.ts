/** A person's name in two parts, in the original spelling. */
export interface PersonName {
  /** All given names, without the initials between names. */
  firstName: string;
  /** The surname with its particles; both surnames if there are two. */
  lastName: string;
}

/** `W.`, `J.R.` */
const INITIALS = /^(?:\p{Lu}|[a-df-hj-np-xz]|(?:\p{L}\.)+)$/u;
/** Of Cyrillic letters also in Latin ones. Surnames such as `Jovanović` and `Mickiewicz` have other endings. */
const PATRONYMIC =
  /(?:[оеё]вич|[иы]нич|^(?:иль|кузьм|фом|лук|никит)ич|[оеё]вна|[иы]нична|^(?:иль|кузьм|фом|лук|никит)[иы]чна|[оеєії]вич|[іїо]вна|[oe]vich|[oe]vych|[oei]vna|inichna)$/iu;
const GENERATION = /(?<=\p{L}.*)[\s,]+(?:jr|sr|junior|senior|iii?|iv|2nd|3rd|4th)\.?$/iu;

const SHORT_GENERATIONS = new Map(
  Object.entries({ junior: "jr", senior: "sr", ii: "2nd", iii: "3rd", iv: "4th" }),
);

/** Whether a word is the name of a father: `Иванович`, `Petrovna`. A surname may look like one. */
export function isPatronymic(word = ""): boolean {
  return word.length > 4 && PATRONYMIC.test(word);
}

/** The words of a given name without initials and the patronymic after it. Initials alone are kept. */
export function givenNames(words: readonly string[]): readonly string[] {
  const named = words.filter((word) => !INITIALS.test(word));
  if (named.length === 0) return words;
  return named.length > 1 && isPatronymic(named.at(-1)) ? named.slice(0, -1) : named;
}

/** What {@link plainName} omits: it tells people of one name apart. */
export interface OmittedParts {
  /** Initials and patronymics, one each: `John W.` has `W`. */
  middle: readonly string[];
  /** `jr`, `sr`, `2nd`, `3rd`, `4th`; `null` without one. */
  generation: string | null;
}

export function omittedParts({ firstName, lastName }: PersonName): OmittedParts {
  const words = firstName.trim().split(/\s+/);
  const kept = new Set(givenNames(words));
  const middle = words.filter((word) => !kept.has(word)).flatMap((word) => word.split(".").filter(Boolean));
  const [generation] = GENERATION.exec(lastName.trim()) ?? [];
  const plain = generation?.toLowerCase().replace(/[\s,.]/g, "") ?? null;
  return { middle, generation: SHORT_GENERATIONS.get(plain ?? "") ?? plain };
}

/** A name without what people write or omit: `John W.`, `Ingram Jr.` are `John`, `Ingram`. */
export function plainName({ firstName, lastName }: PersonName): PersonName {
  // Most names are one word each.
  const isOneWord = !/[\s.,]/.test(firstName) && !/\s/.test(lastName);
  if (isOneWord) return { firstName, lastName };
  return {
    firstName: givenNames(firstName.trim().split(/\s+/)).join(" "),
    lastName: lastName.trim().replace(GENERATION, ""),
  };
}
