/** Characters that a terminal may interpret: controls, line breaks, and bidirectional marks. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Escapes untrusted text for a terminal, e.g. an escape character as `\u001b`. JSON keeps its meaning. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
