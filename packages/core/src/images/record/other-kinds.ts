import type { ConvertibleType } from "../../contracts/renderer.ts";

const RAW_PHOTO = "a camera raw photo";
/** The mark of Phase One, which may stand in a TIFF. */
const RAW_MARK = /^(?:.{8})?(?:IIII.waR|MMMMRaw)/s;
/** Fields of other raws that are a TIFF, in both byte orders: `DNGVersion`, and a photometric interpretation as colour filters. */
const RAW_FIELDS = [
  ...["\x12\xc6\x01\0\x04\0\0\0", "\xc6\x12\0\x01\0\0\0\x04"],
  ...["\x06\x01\x03\0\x01\0\0\0\x23\x80", "\x01\x06\0\x03\0\0\0\x01\x80\x23"],
].map((field) => Buffer.from(field, "latin1"));

/** Brands of files in the ISO base media format (ISO/IEC 14496-12 §4.3), by their kind. */
const BRANDS: readonly [RegExp, string][] = [
  [/^avi[fs]$/, "an AVIF picture"],
  [/^(?:he[ivm][cxms]|mif1|msf1)$/, "a HEIC photo"],
  [/^crx $/, RAW_PHOTO],
  [/^qt {2}$/, "a MOV video"],
  [/^M4A/, "a sound file"],
];
/** Where a movie without a brand begins (QuickTime File Format). */
const MOVIE_ATOM = /^(?:moov|mdat|wide|skip|pnot)$/;

/** Forms of RIFF files, at their ninth byte. */
const RIFF_FORMS: ReadonlyMap<string, string> = new Map([
  ["WEBP", "a WebP picture"],
  ["AVI ", "an AVI video"],
  ["WAVE", "a sound file"],
]);

/** First bytes of other kinds of files, as latin1. */
const STARTS: readonly (readonly [kind: string, ...starts: string[]])[] = [
  [RAW_PHOTO, "II*\0\x10\0\0\0CR\x02", "II\x1a\0\0\0HEAP", "IIU\0", "IIRO", "IIRS", "MMOR"],
  [RAW_PHOTO, "FUJIFILMCCD-RAW", "FOVb", "\0MRM"],
  ["a TIFF picture", "II*\0", "MM\0*", "II+\0", "MM\0+"],
  ["a JPEG XL picture", "\xff\x0a", "\0\0\0\x0cJXL "],
  ["a JPEG 2000 picture", "\0\0\0\x0cjP  ", "\xff\x4f\xff\x51"],
  ["a GIMP picture", "gimp xcf"],
  ["an ICO icon", "\0\0\x01\0", "\0\0\x02\0"],
  ["a PostScript file", "%!PS", "\xc5\xd0\xd3\xc6"],
  ["a WebM video", "\x1a\x45\xdf\xa3"],
  ["an MPEG video", "\0\0\x01\xb3", "\0\0\x01\xba"],
  ["a sound file", "ID3", "OggS", "fLaC"],
  ["a ZIP archive or an office document", "PK\x03\x04", "PK\x05\x06"],
  ["an archive", "\x1f\x8b", "7z\xbc\xaf", "Rar!", "\xfd7zXZ"],
];
const HTML = /^(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b/is;

const CONVERTIBLE_KINDS: ReadonlyMap<string | null, ConvertibleType> = new Map([
  ["a WebP picture", "image/webp"],
  ["an AVIF picture", "image/avif"],
  ["a TIFF picture", "image/tiff"],
  ["a HEIC photo", "image/heic"],
]);

/** The type of a file that a renderer can convert; `null` for any other. */
export function sniffConvertible(head: Buffer): ConvertibleType | null {
  return CONVERTIBLE_KINDS.get(nameOtherKind(head)) ?? null;
}

/**
 * Names a file that is none of the six types by its first bytes, for messages. `null` for bytes that are not recognised.
 */
export function nameOtherKind(head: Buffer): string | null {
  const start = head.toString("latin1", 0, 1024);
  const atom = start.slice(4, 8);
  if (atom === "ftyp") {
    // A general brand leaves the codec to those after it.
    const brand =
      /^....(?:mif1|msf1).*?(avi[fs])/s.exec(start.slice(4, head.readUInt32BE()))?.[1] ?? start.slice(8, 12);
    return BRANDS.find(([pattern]) => pattern.test(brand))?.[1] ?? "an MP4 video";
  }
  if (MOVIE_ATOM.test(atom)) return "a MOV video";
  if (RAW_MARK.test(start)) return RAW_PHOTO;
  if (HTML.test(start)) return "a web page";
  if (start.startsWith("RIFF")) return RIFF_FORMS.get(start.slice(8, 12)) ?? null;
  // Its reserved bytes are zero.
  if (start.startsWith("BM") && start.slice(6, 10) === "\0\0\0\0") return "a BMP picture";
  const kind = STARTS.find(([, ...starts]) => starts.some((each) => start.startsWith(each)))?.[0] ?? null;
  return kind === "a TIFF picture" && RAW_FIELDS.some((field) => head.includes(field)) ? RAW_PHOTO : kind;
}

/** What to do with a file of another kind, as the end of a sentence. */
export function adviceFor(kind: string): string {
  if (kind === "a HEIC photo") {
    return "convert it to JPEG first. On an iPhone: Settings, Camera, Formats, Most Compatible";
  }
  if (/picture|photo|icon/.test(kind)) return "convert it to PNG or JPEG first";
  if (kind === "a PostScript file") return "convert it to PDF first";
  if (/video|sound/.test(kind))
    return `${kind.endsWith("video") ? "videos" : "sounds"} can't be uploaded here`;
  return kind === "a web page" ? "choose the picture itself" : "choose the pictures one by one";
}
