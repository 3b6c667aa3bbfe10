const MARKUP = Symbol("markup");

/** Text that is known to be markup: made by {@link html} or {@link trusted}, never by data. */
export interface Html {
  readonly [MARKUP]: string;
}

/** What may stand in a template. Absent values (`null`, `undefined`, `false`) leave nothing; lists are joined. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Makes text safe between tags and inside quoted attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? "");
}

/**
 * Template tag whose values are escaped unless they are markup already. Attribute values must be quoted in the
 * template: escaping protects nothing else.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const text = strings.map((string, index) => (index === 0 ? string : markupOf(values[index - 1]) + string));
  return { [MARKUP]: text.join("") };
}

/** Declares a constant of this package to be markup. */
export function trusted(constant: string): Html {
  return { [MARKUP]: constant };
}

/** The finished text of a value. */
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
