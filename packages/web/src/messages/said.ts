import { type TextKey, t } from "../texts.ts";
import en from "./en.json" with { type: "json" };

/** The sentences of the service that pages show, as patterns of their English texts. */
const SAID = Object.entries(en)
  .filter(([key]) => key.startsWith("said."))
  .map(([key, text]) => {
    const literal = text.replace(/\.$/, "").replace(/[.*+?^$()[\]\\|]/g, "\\$&");
    const pattern = literal.replace(/\{\{(\w+)\}\}/g, "(?<$1>.+?)");
    // The catalogue has no key but those of texts.
    return { key: key.replace(/_(?:one|other)$/, "") as TextKey, pattern: new RegExp(`^${pattern}\\.?$`) };
  });

/** A text of the service in the reader's language, sentence by sentence. What the catalogue does not have stays as it is. */
export function said(text: string): string {
  return (
    known(text) ??
    text
      .split(/(?<=\.) (?=[A-Z])/)
      .map((sentence) => known(sentence) ?? sentence)
      .join(" ")
  );
}

function known(text: string): string | null {
  for (const { key, pattern } of SAID) {
    const values = pattern.exec(text);
    if (values === null) continue;
    const { count, ...others } = values.groups ?? {};
    return t(key, count === undefined ? others : { ...others, count: Number(count) });
  }
  return null;
}
