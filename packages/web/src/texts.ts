import type en from "./messages/en.json";

type Stem<Key> = Key extends `${infer Start}_${"one" | "other"}` ? Start : Key;
/** A text of the pages. One with the value `count` has a form for each plural category of its language: `<key>_one`, `<key>_other`. */
export type TextKey = Stem<keyof typeof en>;
/** What stands for the placeholders of a text, such as `{{name}}`. Numbers are written as the reader's locale does. */
export type TextValues = Readonly<Record<string, string | number>>;
export type Messages = Readonly<Record<string, string>>;

/** A date and time, to the minute. */
const DATE = {
  ...({ day: "numeric", month: "short", year: "numeric" } as const),
  ...({ hour: "numeric", minute: "2-digit", timeZoneName: "short" } as const),
};

/** The texts of a page for one reader. */
export class Texts {
  /** BCP 47 tag of the texts. */
  readonly language: string;
  /** BCP 47 tag of the reader, which decides about dates and numbers. */
  readonly locale: string;
  readonly messages: Messages;
  readonly #formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>();

  constructor(language: string, locale: string, messages: Messages) {
    this.language = language;
    this.locale = locale;
    this.messages = messages;
  }

  /** The text of a key. Every second part is the name of a placeholder. */
  partsOf(key: string, count: unknown): string[] {
    const form = typeof count === "number" ? new Intl.PluralRules(this.language).select(count) : "";
    const text = this.messages[key] ?? this.messages[`${key}_${form}`] ?? this.messages[`${key}_other`];
    if (text === undefined) throw new Error(`No text ${key}`);
    return text.split(/\{\{(\w+)\}\}/);
  }

  number(value: number, options: Intl.NumberFormatOptions): string {
    const format = () => new Intl.NumberFormat(this.locale, options);
    return this.#remembered(JSON.stringify(options), format).format(value);
  }

  /** @param timeZone Absent: the reader's. */
  date(ms: number, timeZone = ""): string {
    const zone = timeZone === "" ? {} : { timeZone };
    return this.#remembered(
      timeZone,
      () => new Intl.DateTimeFormat(this.locale, { ...DATE, ...zone }),
    ).format(ms);
  }

  #remembered<T extends Intl.NumberFormat | Intl.DateTimeFormat>(key: string, create: () => T): T {
    const format = (this.#formats.get(key) as T | undefined) ?? create(); // A key belongs to one kind.
    this.#formats.set(key, format);
    return format;
  }
}

/** The texts of the page that is being rendered, which happens at once; in a browser, of the page that is open. */
let current: Texts | null = null;

/** @returns the texts that were set before. */
export function setTexts(texts: Texts | null): Texts | null {
  const before = current;
  current = texts;
  return before;
}

/** The texts of the page. */
export function texts(): Texts {
  if (current === null) throw new Error("No texts");
  return current;
}

/** A text in the reader's language. */
export function t(key: TextKey, values: TextValues = {}): string {
  const parts = texts().partsOf(key, values.count);
  return parts.map((part, index) => (index % 2 === 0 ? part : written(values[part]))).join("");
}

/** The text of a composed key; `null`: there is none. */
export function textOf(key: string): string | null {
  return Object.hasOwn(texts().messages, key) ? t(key as TextKey) : null; // It is a key.
}

function written(value: string | number | undefined): string {
  return typeof value === "number" ? numberText(value) : (value ?? "");
}

export function numberText(value: number, options: Intl.NumberFormatOptions = {}): string {
  return texts().number(value, options);
}

/** An amount with its unit: `7 days`, `25 MB`. */
export function unitText(value: number, unit: string, options: Intl.NumberFormatOptions = {}): string {
  return numberText(value, { style: "unit", unit, unitDisplay: "long", ...options });
}

/** A date and time. @param timeZone Absent: the reader's. */
export function dateText(ms: number, timeZone?: string): string {
  return texts().date(ms, timeZone);
}
