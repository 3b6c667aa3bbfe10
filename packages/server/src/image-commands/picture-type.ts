/** The types that can be uploaded, and what people call them. */
export const PICTURE_TYPES = {
  "image/png": "PNG",
  "image/jpeg": "JPEG",
  "image/gif": "GIF",
  "image/svg+xml": "SVG",
  "image/x-photoshop": "PSD",
  "application/pdf": "PDF",
} as const;

export type PictureType = keyof typeof PICTURE_TYPES;

/** As many first bytes as {@link pictureTypeOf} wants to see. */
export const HEAD_BYTES = 4096;

const MAGIC: readonly [PictureType, ...string[]][] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a", "GIF89a"],
  ["image/x-photoshop", "8BPS\0\x01", "8BPS\0\x02"],
];
/** A PDF may begin so far into a file (ISO 32000-1, implementation note 13). */
const PDF_WITHIN = 1024;
const GZIP = "\x1f\x8b";
/** XML with an element svg. */
const SVG = /^<(?!html|!doctype html)(?:[\s\S]*<)?(?:[\w.-]+:)?svg[\s/>]/i;
/** XML of whose prolog no end is in sight, so that its first element is not. */
const PROLOG = /^<(?:\?xml|!--)(?![\s\S]*<[A-Za-z])/i;

/**
 * The type of a file by its first bytes, `null` for what is certainly none of those that are taken. What is doubtful is left
 * to the service, which looks at all of it.
 * @param name The file's, which counts for what is compressed alone: an SVG then looks like anything.
 */
export function pictureTypeOf(head: Buffer, name: string): PictureType | null {
  const bytes = head.toString("latin1");
  for (const [type, ...beginnings] of MAGIC) {
    if (beginnings.some((beginning) => bytes.startsWith(beginning))) return type;
  }
  if (bytes.startsWith(GZIP)) return /\.svgz?$/i.test(name) ? "image/svg+xml" : null;
  const text = textOf(head, bytes).trimStart();
  if (SVG.test(text) || PROLOG.test(text)) return "image/svg+xml";
  return bytes.slice(0, PDF_WITHIN).includes("%PDF-") ? "application/pdf" : null;
}

/** UTF-16 where its byte order mark or the zeros of ASCII show it, else as UTF-8. */
function textOf(head: Buffer, bytes: string): string {
  const isBigEndian = bytes.startsWith("\xfe\xff") || bytes.startsWith("\0<");
  const isLittleEndian = bytes.startsWith("\xff\xfe") || bytes.startsWith("<\0");
  const encoding = isBigEndian ? "utf-16be" : isLittleEndian ? "utf-16le" : "utf-8";
  return new TextDecoder(encoding).decode(head);
}
