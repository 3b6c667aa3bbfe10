/** What a terminal may obey instead of showing it: controls, line breaks, and marks that turn the text around them. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Untrusted text, safe for a terminal: `\u001b` for an escape. JSON stays JSON with the same meaning. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
