import type { PdfOther } from "./pdf-value.ts";

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/**
 * The bytes of a string, as Latin-1 text; of a string in UTF-16, its text.
 *
 * Source: ISO 32000-1, sections 7.3.4 and 7.9.2.
 */
export function textOf(bytes: Buffer, { start, end }: PdfOther): string {
  const inner = bytes.toString("latin1", start + 1, end - 1);
  const text = bytes[start] === 0x3c ? fromHex(inner) : unescapeText(inner);
  if (!text.startsWith("\xfe\xff")) return text.startsWith("\xef\xbb\xbf") ? text.slice(3) : text;
  const units = Buffer.from(text.slice(2, text.length - (text.length % 2)), "latin1");
  return units.swap16().toString("utf16le");
}

function fromHex(inner: string): string {
  const digits = inner.replace(/[^0-9a-f]/gi, "");
  return Buffer.from(digits + "0".repeat(digits.length % 2), "hex").toString("latin1");
}

function unescapeText(inner: string): string {
  return inner.replace(/\r\n?/g, "\n").replace(/\\([0-7]{1,3}|.)/gs, (_, escaped: string) => {
    if (/^[0-7]/.test(escaped)) return String.fromCharCode(Number.parseInt(escaped, 8) & 0xff);
    return escaped === "\n" ? "" : (escapes[escaped] ?? escaped);
  });
}
