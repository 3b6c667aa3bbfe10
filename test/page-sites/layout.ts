import { type Language, wordsOf } from "./language.ts";
import type { Entry, Phone } from "./people.ts";
import type { Random } from "./random.ts";
import { escapeHtml } from "./writings.ts";

/** An entry and the HTML of its parts; an empty text where it has none. */
export interface Shown {
  entry: Entry;
  /** With a link if the address is written on the name. */
  name: string;
  inverted: string;
  position: string;
  phone: string;
  /** Empty if the address is written on the name. */
  mail: string;
}

/** One way to lay out several people. */
export interface Layout {
  kind: string;
  render(shown: readonly Shown[], page: PageStyle): string;
  /** It writes the addresses into data of its own. */
  isData?: boolean;
  /** Every entry needs a name, a position and a phone. */
  isWhole?: boolean;
  /** The address stands in a sentence, so it cannot be a link on the name. */
  isSentence?: boolean;
  /** It shows the name as `Berg, Anna`. */
  isInverted?: boolean;
  /** People only, since a department has no first and last name. */
  isPeopleOnly?: boolean;
  hides?: readonly ("position" | "phone")[];
}

/** What the parts of one page have in common. */
export class PageStyle {
  readonly random: Random;
  readonly language: Language;
  readonly words;
  readonly organization: string;
  readonly isLinked: boolean;
  readonly #phoneLabel: string;
  readonly #mailLabel: string;
  readonly #hasFax: boolean;

  constructor(random: Random, language: Language, organization: string) {
    this.random = random;
    this.language = language;
    this.organization = organization;
    this.words = wordsOf(language);
    this.isLinked = random.chance(0.4);
    const { phone, email } = this.words;
    this.#phoneLabel = random.pick(["Tel.: ", `${phone}: `, `${phone} `, "Tel. ", "T: ", "☎ ", ""]);
    this.#mailLabel = random.pick([`${email}: `, "Mail: ", "E: ", "", ""]);
    this.#hasFax = random.chance(0.2);
  }

  phone(phone: Phone): string {
    const text = escapeHtml(phone.written);
    return this.isLinked ? `<a href="tel:+${phone.international}">${text}</a>` : text;
  }

  /** The lines of an entry below its name, with labels. */
  lines({ position, phone, mail }: Shown): string[] {
    const phoneLine = phone === "" ? "" : `${this.#phoneLabel}${phone}`;
    const fax =
      this.#hasFax && phone !== ""
        ? `${this.words.fax}: ${phone.replace(/<[^>]*>/g, "").replace(/\d{2}(?=\D*$)/, "99")}`
        : "";
    const mailLine = mail === "" ? "" : `${this.#mailLabel}${mail}`;
    return [position, phoneLine, fax, mailLine].filter((line) => line !== "");
  }

  photo({ entry }: Shown): string {
    const file = `/media/portrait-${this.random.int(100, 999)}@2x.jpg`;
    return `<img src="${file}" srcset="${file} 2x" alt="${escapeHtml(entry.written)}" loading="lazy">`;
  }

  filler(): string {
    return this.random.pick(this.language.filler.split("|"));
  }
}

export function each(shown: readonly Shown[], render: (one: Shown, index: number) => string): string {
  return shown.map(render).join("\n");
}

/** An element around a text; nothing around none. */
export function wrap(text: string, tag: string, attributes = ""): string {
  if (text === "") return "";
  return `<${tag}${attributes === "" ? "" : ` ${attributes}`}>${text}</${tag}>`;
}
