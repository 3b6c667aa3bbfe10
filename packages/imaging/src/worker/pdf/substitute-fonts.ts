import { broadestFont, fontOfCharset, type MachineFont, readFont } from "./machine-fonts.ts";

/** The used part of PDFium. */
interface FontUser {
  FPDF_SetSystemFontInfo(info: number): void;
  pdfium: {
    readonly HEAPU8: Uint8Array;
    readonly wasmExports: { malloc(bytes: number): number };
    addFunction(callback: (...values: number[]) => number, signature: string): number;
  };
}

/** Version 1 of `FPDF_SYSFONTINFO`: a number and eight functions (`fpdf_sysfontinfo.h`). */
const FONT_INFO_VERSION = 1;
/** `ttcf`: the table that stands for a whole font collection. */
const COLLECTION = 0x74746366;
/** PDFium asks for Arial when a font lacks a character, and calls it so. */
const FALLBACK_FACE = "Helvetica";

/** Whether a page is being drawn. PDFium loads the fonts of a page before, and a fallback while it draws. */
let isDrawing = false;

/** Calls `draw`. Characters that their font lacks are taken from the broadest font of this machine. */
export function withFallbackFont<Result>(draw: () => Result): Result {
  isDrawing = true;
  try {
    return draw();
  } finally {
    isDrawing = false;
  }
}

/**
 * Lets PDFium use fonts of this machine for text that it would not draw: for scripts other than Latin in fonts that a
 * file does not embed, and for characters that a font lacks. Its built-in fonts draw all other text, so that text looks
 * the same on every machine.
 */
export function offerMachineFonts(pdfium: FontUser): void {
  const { pdfium: runtime } = pdfium;
  /** Fonts that PDFium uses, at their handle less 1. */
  const fonts: MachineFont[] = [];
  const contents = new Map<MachineFont, Buffer | null>();

  const mapFont = (_: number, __: number, ___: number, charset = 0, ____ = 0, face = 0): number => {
    const isFallback = isDrawing && textAt(runtime.HEAPU8, face) === FALLBACK_FACE;
    const font = isFallback ? broadestFont() : fontOfCharset(charset);
    if (font === undefined) return 0;
    const index = fonts.indexOf(font);
    return index === -1 ? fonts.push(font) : index + 1;
  };
  const getFontData = (_: number, handle = 0, table = 0, buffer = 0, size = 0): number => {
    const font = fonts[handle - 1];
    if (font === undefined || (table !== 0 && table !== COLLECTION)) return 0;
    if (table === COLLECTION && font.start === 0) return 0;
    if (!contents.has(font)) contents.set(font, readFont(font));
    const file = contents.get(font);
    if (!file) return 0;
    // PDFium finds a font in a collection by the bytes from its start to the end of the file.
    const bytes = table === COLLECTION ? file : file.subarray(font.start);
    if (buffer !== 0 && size >= bytes.length) {
      runtime.HEAPU8.set(bytes, buffer);
      contents.delete(font);
    }
    return bytes.length;
  };

  // Emscripten adds the same function only once, whatever its signature.
  const nothing = (signature: string) => runtime.addFunction(() => 0, signature);
  const functions = [
    nothing("vi"), // Release
    nothing("vii"), // EnumFonts
    runtime.addFunction(mapFont, "iiiiiiii"),
    nothing("iii"), // GetFont
    runtime.addFunction(getFontData, "iiiiii"),
    nothing("iiiii"), // GetFaceName
    nothing("iii"), // GetFontCharset
    nothing("vii"), // DeleteFont
  ];
  const info = [FONT_INFO_VERSION, ...functions];
  const pointer = runtime.wasmExports.malloc(info.length * Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(runtime.HEAPU8.buffer, pointer, info.length).set(info);
  pdfium.FPDF_SetSystemFontInfo(pointer);
}

function textAt(memory: Uint8Array, pointer: number): string {
  return Buffer.from(memory.subarray(pointer, memory.indexOf(0, pointer))).toString("latin1");
}
