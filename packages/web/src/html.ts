import { numberText, type TextKey, texts } from "./texts.ts";

const MARKUP = Symbol("markup");

/** Trusted markup, made by {@link html} or {@link trusted}, never from data. */
export interface Html {
  readonly [MARKUP]: string;
}

/** A value in a template. `null`, `undefined` and `false` render as nothing; lists are joined. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Escapes text for use between tags and inside quoted attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? "");
}

/**
 * Template tag that escapes every value except trusted markup. Quote attribute values in the template: escaping is not
 * safe elsewhere.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const text = strings.map((string, index) => (index === 0 ? string : markupOf(values[index - 1]) + string));
  return { [MARKUP]: text.join("") };
}

/** A text in the reader's language, whose values may be markup. */
export function textMarkup(key: TextKey, values: Readonly<Record<string, HtmlValue>>): Html {
  const parts = texts().partsOf(key, values.count);
  const written = (value: HtmlValue) => (typeof value === "number" ? numberText(value) : value);
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : written(values[part])))}`;
}

/** Marks a constant of this package as trusted markup. */
export function trusted(constant: string): Html {
  return { [MARKUP]: constant };
}

/** The HTML text of a value. */
export function markupOf(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return "";
  if (typeof value === "string") return escapeHtml(value);
  if (typeof value === "number") return escapeHtml(String(value));
  if (isMarkup(value)) return value[MARKUP];
  return value.map(markupOf).join("");
}

function isMarkup(value: Html | readonly HtmlValue[]): value is Html {
  return MARKUP in value;
}
