import anyAscii from "any-ascii";

/** A key that is equal for the spellings of one name: transliterated, lower case, without spaces, hyphens and signs. */
export function normaliseName(name: string): string {
  return anyAscii(name.normalize("NFC"))
    .toLowerCase()
    .replace(/[^a-z]/g, "");
}
