import type { SitePage } from "./site.ts";

/** Windows-1252 from 0x80 on, as far as the generator needs it; the rest up to U+00FF is Latin-1. */
const WINDOWS: Readonly<Record<string, number>> = {
  "€": 0x80,
  "…": 0x85,
  "’": 0x92,
  "“": 0x93,
  "”": 0x94,
  "–": 0x96,
  "—": 0x97,
};

/** The bytes of a page in its charset. Letters that it lacks become character references, as servers write them. */
export function encodePage({ html, charset }: SitePage): Uint8Array {
  if (charset === "utf-8") return Buffer.from(html);
  const letters = html.replace(/[^\0-\u007f\u00a0-\u00ff]/gu, (letter) => {
    const byte = WINDOWS[letter];
    return byte === undefined ? `&#${letter.codePointAt(0)};` : String.fromCharCode(byte);
  });
  return Buffer.from(letters, "latin1");
}
