/** A language of the generated pages. Texts with `|` list alternatives. */
export interface Language {
  code: string;
  /** Top-level domain, country of its phone numbers, and locale of its names. */
  places: readonly (readonly [tld: string, country: string, locale: string])[];
  /** `name|first|last|position|email|phone|fax|room|home|team|contact|imprint|news`: headings, labels, links. */
  words: string;
  titles: string;
  /** Before a name. */
  honorifics: string;
  /** Behind a name, after a comma. */
  degrees?: string;
  filler: string;
  departments: string;
  /** Family name first, always. */
  isFamilyFirst?: boolean;
  /** Two surnames, or particles before a surname, are usual. */
  isDouble?: boolean;
  particles?: string;
}

export function wordsOf({ words }: Language) {
  const list = words.split("|");
  const at = (index: number) => list[index] ?? "";
  return {
    ...{
      name: at(0),
      first: at(1),
      last: at(2),
      position: at(3),
      email: at(4),
      phone: at(5),
      fax: at(6),
      room: at(7),
    },
    ...{ home: at(8), team: at(9), contact: at(10), imprint: at(11), news: at(12) },
  };
}
