import { TextDecoder } from "node:util";

/** A declaration in the first bytes, where browsers look for it. */
const DECLARED = /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w:.-]+)/i;
const DECLARATION_BYTES = 2048;
const WESTERN = "windows-1252";

/**
 * The text of a page. Its encoding is that of the byte order mark, of the `Content-Type` or of `<meta charset>`, in this order;
 * without one it is UTF-8, or Windows-1252 if most of its letters are not valid UTF-8. Unknown encodings are ignored, and so is
 * UTF-8 that the bytes contradict.
 *
 * @param contentType Value of the header; `undefined` without one.
 */
export function decodePage(bytes: Uint8Array, contentType: string | undefined): string {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARATION_BYTES));
  const [mark = ""] = /^(?:\xff\xfe|\xfe\xff|\xef\xbb\xbf)/.exec(start) ?? [];
  if (mark !== "") {
    const marked = mark === "\xff\xfe" ? "utf-16le" : mark === "\xfe\xff" ? "utf-16be" : "utf-8";
    return new TextDecoder(marked).decode(bytes);
  }
  const text = new TextDecoder().decode(bytes);
  const wrong = text.match(/\uFFFD/g)?.length ?? 0;
  const isUnicode = wrong === 0 || wrong < (text.match(/[^\0-\x7f\uFFFD]/g)?.length ?? 0);
  const header = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType ?? "")?.[1];
  // A page whose declaration can be read as ASCII is not UTF-16.
  const meta = DECLARED.exec(start)?.[1]?.replace(/^utf-?16.*/i, "utf-8");
  for (const name of [header, meta]) {
    const decoder = name === undefined ? null : decoderFor(name);
    if (decoder !== null && (decoder.encoding !== "utf-8" || isUnicode)) return decoder.decode(bytes);
  }
  return isUnicode ? text : new TextDecoder(WESTERN).decode(bytes);
}

function decoderFor(name: string): TextDecoder | null {
  try {
    return new TextDecoder(name);
  } catch {
    return null; // A RangeError: the name is unknown.
  }
}
