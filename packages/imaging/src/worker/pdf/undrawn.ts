import type { Size } from "@outrigger/core/images";
import { isFrame, Marker, readJpegSegments } from "../privacy/jpeg-segments.ts";
import type { PdfDocument } from "./pdf-document.ts";
import { type Pdfium, readFloats, useMemory } from "./pdfium.ts";
import { withFallbackFont } from "./substitute-fonts.ts";

/** `FPDF_PAGEOBJ_*`. */
const IMAGE = 3;
const FORM = 5;
/** `FPDF_TEXTRENDERMODE_INVISIBLE` and `_CLIP`: text that a scan's recognition adds, and outlines for clipping. */
const UNSEEN_MODES: ReadonlySet<number> = new Set([3, 7]);
/** Share of the page from which a picture that is missing is looked for. */
const LARGE = 0.1;
/** Objects that are looked at on a page that shows something. */
const MAX_OBJECTS = 5000;
/** Objects and characters that are looked at on a page of one colour. */
const MAX_FLAT_OBJECTS = 50_000;
const MAX_DEPTH = 8;

/** A drawn page: rows of RGB without padding. */
interface DrawnPage {
  handle: number;
  pixels: Buffer;
  size: Size;
}

/**
 * Looks for content that PDFium silently left out: a large picture in a compression that it cannot decode, and text of a
 * page that otherwise shows nothing. Returns a clause about the page, `null` if nothing is missing.
 *
 * It only examines pictures where the page has one colour, so an ordinary page costs one call for each of its objects.
 */
export function findUndrawn(document: PdfDocument, page: DrawnPage): string | null {
  const { pdfium } = document;
  const whole = { left: 0, top: 0, right: page.size.width, bottom: page.size.height };
  const isEmpty = isFlat(page, whole);
  let rest = isEmpty ? MAX_FLAT_OBJECTS : MAX_OBJECTS;
  const count = pdfium.FPDFPage_CountObjects(page.handle);
  for (let index = 0; index < count && rest > 0; index++) {
    const fault = examine(pdfium.FPDFPage_GetObject(page.handle, index), 0);
    if (fault !== null) return fault;
  }
  return isEmpty && hasLostText(document, page)
    ? "shows text in fonts that are neither in the file nor on this server"
    : null;

  function examine(object: number, depth: number): string | null {
    rest--;
    const type = pdfium.FPDFPageObj_GetType(object);
    if (type === FORM && depth < MAX_DEPTH && isEmpty) {
      const parts = pdfium.FPDFFormObj_CountObjects(object);
      for (let index = 0; index < parts && rest > 0; index++) {
        const fault = examine(pdfium.FPDFFormObj_GetObject(object, index), depth + 1);
        if (fault !== null) return fault;
      }
    }
    if (type !== IMAGE || !(isEmpty || isSuspect(object))) return null;
    const compression = undecodable(pdfium, object);
    return compression === null ? null : `shows a picture that cannot be decoded (${compression})`;
  }

  /** Whether an image takes much of the page but shows one colour. */
  function isSuspect(image: number): boolean {
    const box = boxOf(pdfium, page, image);
    if (box === null) return false;
    const area = (box.right - box.left) * (box.bottom - box.top);
    return area >= LARGE * page.size.width * page.size.height && isFlat(page, box);
  }
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Whether all pixels of a part of the page are equal. */
function isFlat({ pixels, size }: DrawnPage, { left, top, right, bottom }: Box): boolean {
  const first = (top * size.width + left) * 3;
  const [red, green, blue] = [pixels[first], pixels[first + 1], pixels[first + 2]];
  for (let y = top; y < bottom; y++) {
    const end = (y * size.width + right) * 3;
    for (let at = (y * size.width + left) * 3; at < end; at += 3) {
      if (pixels[at] !== red || pixels[at + 1] !== green || pixels[at + 2] !== blue) return false;
    }
  }
  return true;
}

/** The whole pixels that an object of the page covers; `null` for none. */
function boxOf(pdfium: Pdfium, { handle, size }: DrawnPage, object: number): Box | null {
  const [left = 0, bottom = 0, right = 0, top = 0] =
    readFloats(pdfium, 4, (at) => pdfium.FPDFPageObj_GetBounds(object, at, at + 4, at + 8, at + 12)) ?? [];
  const corners = [toPixels(left, bottom), toPixels(right, top)];
  const [one, other] = corners;
  if (!one || !other) return null;
  const box = {
    left: clamp(Math.min(one.x, other.x) + 1, size.width),
    right: clamp(Math.max(one.x, other.x) - 1, size.width),
    top: clamp(Math.min(one.y, other.y) + 1, size.height),
    bottom: clamp(Math.max(one.y, other.y) - 1, size.height),
  };
  return box.right > box.left && box.bottom > box.top ? box : null;

  function toPixels(x: number, y: number): { x: number; y: number } | null {
    return useMemory(pdfium, 8, (at) => {
      if (!pdfium.FPDF_PageToDevice(handle, 0, 0, size.width, size.height, 0, x, y, at, at + 4)) return null;
      const [column = 0, row = 0] = new Int32Array(pdfium.pdfium.HEAPU8.buffer, at, 2);
      return { x: column, y: row };
    });
  }
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most);
}

/** The names of filters in reasons. */
const COMPRESSIONS: Partial<Record<string, string>> = {
  DCTDecode: "damaged JPEG",
  JPXDecode: "JPEG 2000",
  JBIG2Decode: "damaged JBIG2",
  CCITTFaxDecode: "damaged fax",
};

/** The compression of an image object that PDFium cannot decode; `null` if it can. */
function undecodable(pdfium: Pdfium, image: number): string | null {
  const filters = pdfium.FPDFImageObj_GetImageFilterCount(image);
  const filter = filters > 0 ? readFilter(pdfium, image, filters - 1) : "none";
  if (filter === "DCTDecode") {
    const kind = unsupportedJpeg(readData(pdfium, image));
    if (kind !== null) return kind;
  }
  const bitmap = pdfium.FPDFImageObj_GetBitmap(image);
  if (bitmap === 0) return COMPRESSIONS[filter] ?? `compression ${filter}`;
  pdfium.FPDFBitmap_Destroy(bitmap);
  return null;
}

function readFilter(pdfium: Pdfium, image: number, index: number): string {
  const bytes = pdfium.FPDFImageObj_GetImageFilter(image, index, 0, 0);
  return useMemory(pdfium, bytes + 1, (at) => {
    pdfium.FPDFImageObj_GetImageFilter(image, index, at, bytes);
    return Buffer.from(pdfium.pdfium.HEAPU8.subarray(at, at + bytes - 1)).toString("latin1");
  });
}

/** The data of an image, after all filters but that of the image itself. */
function readData(pdfium: Pdfium, image: number): Buffer {
  const bytes = pdfium.FPDFImageObj_GetImageDataDecoded(image, 0, 0);
  return useMemory(pdfium, bytes + 1, (at) => {
    pdfium.FPDFImageObj_GetImageDataDecoded(image, at, bytes);
    return Buffer.from(pdfium.pdfium.HEAPU8.subarray(at, at + bytes));
  });
}

/** Whether the page has visible characters that leave no trace when they are drawn. */
function hasLostText({ pdfium, handle: document }: PdfDocument, { handle: page }: DrawnPage): boolean {
  const text = pdfium.FPDFText_LoadPage(page);
  if (text === 0) return false;
  const examined = new Set<number>();
  const count = Math.min(pdfium.FPDFText_CountChars(text), MAX_FLAT_OBJECTS);
  let isLost = false;
  for (let index = 0; index < count && !isLost; index++) {
    const character = pdfium.FPDFText_GetUnicode(text, index);
    if (
      pdfium.FPDFText_IsGenerated(text, index) === 1 ||
      /^[\s\0\u{ad}\u{200b}]$/u.test(String.fromCodePoint(character))
    )
      continue;
    const object = pdfium.FPDFText_GetTextObject(text, index);
    if (object === 0 || examined.has(object)) continue;
    examined.add(object);
    isLost = !UNSEEN_MODES.has(pdfium.FPDFTextObj_GetTextRenderMode(object)) && isTraceless(object);
  }
  pdfium.FPDFText_ClosePage(text);
  return isLost;

  function isTraceless(object: number): boolean {
    const bitmap = withFallbackFont(() => pdfium.FPDFTextObj_GetRenderedBitmap(document, page, object, 1));
    if (bitmap === 0) return true;
    pdfium.FPDFBitmap_Destroy(bitmap);
    return false;
  }
}

const ARITHMETIC_FROM = 0xc9;
const LOSSLESS: ReadonlySet<number> = new Set([0xc3, 0xc7, 0xcb, 0xcf]);
const HIERARCHICAL: ReadonlySet<number> = new Set([0xc5, 0xc6, 0xcd, 0xce]);
const USUAL_BITS = 8;

/**
 * The kind of a JPEG that PDFium draws as one colour; `null` for the usual kinds: sequential or progressive, Huffman
 * coding, 8 bits. Source: ITU-T T.81, annex B.
 */
function unsupportedJpeg(jpeg: Buffer): string | null {
  for (const { marker, payload } of readJpegSegments(jpeg)) {
    if (marker === Marker.SOS) return null;
    if (!isFrame(marker)) continue;
    if (LOSSLESS.has(marker)) return "lossless JPEG";
    if (HIERARCHICAL.has(marker)) return "hierarchical JPEG";
    if (marker >= ARITHMETIC_FROM) return "arithmetic JPEG";
    const [bits = 0] = payload;
    return bits === USUAL_BITS ? null : `JPEG of ${bits} bits`;
  }
  return null;
}
