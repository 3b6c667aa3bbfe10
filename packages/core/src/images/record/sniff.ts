import type { OriginalType } from "../../contracts/renderer.ts";

/** How far into a file `%PDF-` may begin (ISO 32000-1, implementation note 13). */
const PDF_HEADER_WITHIN = 1024;

const SVG_ROOT = /^<(?:[A-Za-z_][\w.-]*:)?svg[\s/>]/;
const SVG_DOCTYPE = /^<!doctype\s+(?:[A-Za-z_][\w.-]*:)?svg\b/i;
/** A root tag without its end, shorter than {@link ROOT_CHARACTERS}: `head` ends within its name. */
const UNFINISHED_ROOT = /^<[\w.:-]{0,126}$/;
const ROOT_CHARACTERS = 128;

/** The start of a PDF object, or a header anywhere. Damaged files have the one without the other. */
const PDF_PART = /%PDF-|(?<!\d)\d{1,10}\s{1,9}\d{1,5}\s{1,9}obj(?![a-z])/;
const MARKUP = /^(?:\xef\xbb\xbf)?\s*</;

/**
 * Detects the type of a file from its first bytes. `null` for none of the six. The rest of the file is not checked.
 *
 * `declared` decides if the bytes leave the type open. For SVG: for a gzipped file, whose content is not read, and for
 * an XML prolog longer than `head`. For PDF: for a damaged file, whose header is missing or far from its start. Markup
 * is never a damaged PDF.
 */
export function sniffType(head: Buffer, declared?: OriginalType): OriginalType | null {
  if (startsWith(head, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  const magic = head.toString("latin1", 0, 6);
  if (magic === "GIF87a" || magic === "GIF89a") return "image/gif";
  if (magic === "8BPS\0\x01" || magic === "8BPS\0\x02") return "image/x-photoshop";
  const isSvg = hasSvgRoot(head);
  if (isSvg === true) return "image/svg+xml";
  if (declared === "image/svg+xml" && (isSvg === "unknown" || startsWith(head, [0x1f, 0x8b])))
    return declared;
  // Last: only this mark may occur after the start of the file.
  if (head.subarray(0, PDF_HEADER_WITHIN).includes("%PDF-")) return "application/pdf";
  if (declared === "application/pdf") {
    const text = head.toString("latin1");
    if (PDF_PART.test(text) && !MARKUP.test(text)) return declared;
  }
  return null;
}

function startsWith(head: Buffer, magic: number[]): boolean {
  return magic.every((byte, index) => head[index] === byte);
}

/**
 * Whether the first element is `svg`, after the prolog that XML allows: a BOM, declaration, comments, a DOCTYPE.
 * `unknown` if `head` ends within the prolog.
 */
function hasSvgRoot(head: Buffer): boolean | "unknown" {
  const text = decode(head);
  let at = text.startsWith("\ufeff") ? 1 : 0;
  let isXml = false;
  let isOther = false;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at++;
    if (text.startsWith("<?", at)) at = endOf(text, "?>", at);
    else if (text.startsWith("<!--", at)) at = endOf(text, "-->", at + 4);
    else if (/^<!doctype/i.test(text.slice(at, at + 9))) {
      // An HTML page may start this way too, but its DOCTYPE does not name svg.
      isOther ||= !SVG_DOCTYPE.test(text.slice(at, at + ROOT_CHARACTERS));
      at = endOfDoctype(text, at);
    } else break;
    isXml = true;
  }
  const root = text.slice(at, at + ROOT_CHARACTERS);
  if (SVG_ROOT.test(root)) return true;
  return isXml && !isOther && (root === "" || UNFINISHED_ROOT.test(root)) ? "unknown" : false;
}

/** Decodes UTF-16 if a byte order mark or a two-byte `<` shows it, else UTF-8. Only the ASCII characters matter. */
function decode(head: Buffer): string {
  if (startsWith(head, [0xff, 0xfe]) || startsWith(head, [0x3c, 0])) return head.toString("utf16le");
  if (startsWith(head, [0xfe, 0xff]) || startsWith(head, [0, 0x3c])) {
    return Buffer.from(head.subarray(0, head.length & ~1))
      .swap16()
      .toString("utf16le");
  }
  return head.toString("utf8");
}

/** Index after the next `mark`. Without one, the end of the text, where nothing matches. */
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
