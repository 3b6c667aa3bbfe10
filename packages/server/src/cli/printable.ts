/** What a terminal may obey instead of showing it: controls, line breaks, and marks that turn the text around them. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Text from anybody as a terminal can bear it: `\u001b` for an escape. JSON stays JSON, and says the same. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
