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
