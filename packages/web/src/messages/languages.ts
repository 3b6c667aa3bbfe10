import type { Page } from "@outrigger/core/images";
import { rules } from "@outrigger/core/stores";
import Negotiator from "negotiator";
import { type Messages, setTexts, Texts } from "../texts.ts";
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import fr from "./fr.json" with { type: "json" };

const ENGLISH: Messages = en;
const SHIPPED: Readonly<Record<string, Messages>> = { en, de, fr, es };
/** How dates are written for clients that name no language. */
const NEUTRAL_ENGLISH = "en-GB";
/** Readers whose texts are kept. There are more spellings of `Accept-Language` than readers at a time. */
const MAX_READERS = 200;
const MAX_HEADER = 200;

/** The options about the language of pages. */
export const LANGUAGE_RULES = {
  /** Language and region, a BCP 47 tag such as `de-AT`. @default that of the reader, by `Accept-Language` */
  locale: rules.text("a BCP 47 language tag, such as de or en-US", isTag),
  /** Texts in other languages, or in place of ours, by language tag and by the keys of `src/messages/en.json`. @default none */
  messages: rules.named(rules.named(rules.text("a text"))),
};

function isTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

interface LanguageOptions {
  locale?: string | undefined;
  messages?: Readonly<Record<string, Messages>> | undefined;
}

/** The languages of pages. */
export class Languages {
  readonly #fixed: Texts | null;
  readonly #catalogues: ReadonlyMap<string, Messages>;
  readonly #readers = new Map<string, Texts>();

  /** @throws TypeError for a locale without texts. */
  constructor(factory: string, { locale, messages = {} }: LanguageOptions) {
    const english = { ...ENGLISH, ...messages.en };
    const tags = new Set([...Object.keys(SHIPPED), ...Object.keys(messages)]);
    this.#catalogues = new Map(
      [...tags].map((tag) => [tag, { ...english, ...SHIPPED[tag.replace(/-.*/, "")], ...messages[tag] }]),
    );
    this.#fixed = locale === undefined ? null : this.#choose(locale);
    if (locale !== undefined && this.#fixed === null) {
      throw new TypeError(
        `${factory}: locale must be one of ${[...tags].join(", ")} or of their regions, not ${locale}`,
      );
    }
  }

  /** A page in the language of a reader. @param acceptLanguage Value of the header `Accept-Language`. */
  render(acceptLanguage: string | undefined, render: () => Page): Page {
    const texts = this.#fixed ?? this.#textsOf(acceptLanguage ?? "");
    const before = setTexts(texts);
    try {
      const headers = {
        "Content-Language": texts.language,
        ...(this.#fixed === null && { Vary: "Accept-Language" }),
      };
      return { ...render(), headers };
    } finally {
      setTexts(before);
    }
  }

  #textsOf(acceptLanguage: string): Texts {
    const known = this.#readers.get(acceptLanguage);
    if (known !== undefined) return known;
    const texts = this.#choose(acceptLanguage) ?? this.#inLanguage("en", NEUTRAL_ENGLISH);
    if (this.#readers.size >= MAX_READERS) this.#readers.clear();
    if (acceptLanguage.length <= MAX_HEADER) this.#readers.set(acceptLanguage, texts);
    return texts;
  }

  /** The preferred language of a header or a tag, with the reader's region; `null` if there is no such language. */
  #choose(acceptLanguage: string): Texts | null {
    const negotiator = new Negotiator({ headers: { "accept-language": acceptLanguage } });
    const [language] = negotiator.languages([...this.#catalogues.keys()]);
    if (language === undefined) return null;
    const isOfLanguage = (tag: string) => `${tag}-`.toLowerCase().startsWith(`${language}-`.toLowerCase());
    const locale = negotiator.languages().find((tag) => isOfLanguage(tag) && isTag(tag));
    return this.#inLanguage(language, locale ?? (language === "en" ? NEUTRAL_ENGLISH : language));
  }

  #inLanguage(language: string, locale: string): Texts {
    return new Texts(language, locale, this.#catalogues.get(language) ?? ENGLISH);
  }
}

const RIGHT_TO_LEFT = /^(?:Adlm|Arab|Hebr|Mand|Nkoo|Rohg|Samr|Syrc|Thaa)$/;

/** The direction in which a language is written. */
export function directionOf(language: string): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.test(new Intl.Locale(language).maximize().script ?? "") ? "rtl" : "ltr";
}
