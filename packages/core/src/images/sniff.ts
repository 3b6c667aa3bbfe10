import type { OriginalType } from "../contracts/renderer.ts";

/** How far into a file `%PDF-` may begin (ISO 32000-1, implementation note 13). */
const PDF_HEADER_WITHIN = 1024;

/**
 * Tells the type of a file by its first bytes, or `null` for none of the six. Says nothing of the rest of the file.
 * SVG must be UTF-8; UTF-16 and gzipped SVG are not taken.
 */
export function sniffType(head: Buffer): OriginalType | null {
  if (startsWith(head, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  const magic = head.toString("latin1", 0, 6);
  if (magic === "GIF87a" || magic === "GIF89a") return "image/gif";
  if (magic === "8BPS\0\x01" || magic === "8BPS\0\x02") return "image/x-photoshop";
  if (hasSvgRoot(head)) return "image/svg+xml";
  // Last, since it is the only one that is looked for anywhere but at the very beginning.
  if (head.subarray(0, PDF_HEADER_WITHIN).includes("%PDF-")) return "application/pdf";
  return null;
}

function startsWith(head: Buffer, magic: number[]): boolean {
  return magic.every((byte, index) => head[index] === byte);
}

/** Whether the first element is `svg`, after what XML allows in front: a BOM, declaration, comments, a DOCTYPE. */
function hasSvgRoot(head: Buffer): boolean {
  const text = head.toString("utf8");
  let at = text.startsWith("\ufeff") ? 1 : 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at++;
    if (text.startsWith("<?", at)) at = endOf(text, "?>", at);
    else if (text.startsWith("<!--", at)) at = endOf(text, "-->", at + 4);
    else if (/^<!doctype/i.test(text.slice(at, at + 9))) at = endOfDoctype(text, at);
    else return /^<(?:[A-Za-z_][\w.-]*:)?svg[\s/>]/.test(text.slice(at, at + 128));
  }
}

/** Index after the next `mark`, or the end of the text, where nothing matches any more. */
function endOf(text: string, mark: string, from: number): number {
  const index = text.indexOf(mark, from);
  return index === -1 ? text.length : index + mark.length;
}

/** A DOCTYPE ends at the first `>` outside quotes and outside its internal subset in brackets. */
function endOfDoctype(text: string, from: number): number {
  let quote = "";
  let depth = 0;
  for (let index = from; index < text.length; index++) {
    const char = text.charAt(index);
    if (quote !== "") quote = char === quote ? "" : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === "[") depth++;
    else if (char === "]") depth--;
    else if (char === ">" && depth <= 0) return index + 1;
  }
  return text.length;
}
