import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

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

/** A font file of this machine, of regular weight, width and slant. */
export interface MachineFont {
  path: string;
  /** Bytes before the tables of its first font: 0, except in a collection. */
  start: number;
  /** `ulCodePageRange1`: a bit per code page that the font covers. */
  codePages: number;
  /** Unicode ranges that the font covers. */
  ranges: number;
}

/** The folders that fontconfig, macOS and Windows read. */
const DIRECTORIES = [
  "/usr/share/fonts",
  "/usr/local/share/fonts",
  join(homedir(), ".local", "share", "fonts"),
  join(homedir(), ".fonts"),
  "/System/Library/Fonts",
  "/Library/Fonts",
  "C:\\Windows\\Fonts",
];
const FONT_FILE = /\.(?:ttf|otf|ttc)$/i;
const MAX_FILES = 5000;
const MAX_DEPTH = 8;
/** The largest fonts, of all Chinese, Japanese and Korean characters, have 20 MB. */
const MAX_FONT_BYTES = 32 * 1024 ** 2;

/**
 * Bits of `ulCodePageRange1` for the character sets of PDFium. Sources: OpenType, table OS/2; PDFium,
 * `fpdf_sysfontinfo.h`.
 */
const CODE_PAGE_BITS: ReadonlyMap<number, number> = new Map([
  [128, 17], // Japanese
  [129, 19], // Korean
  [134, 18], // Chinese, simplified
  [136, 20], // Chinese, traditional
  [161, 3], // Greek
  [177, 5], // Hebrew
  [178, 6], // Arabic
  [204, 2], // Cyrillic
  [222, 16], // Thai
]);

let found: MachineFont[] | undefined;

/** The font that covers most of Unicode; `undefined` on a machine without fonts. Reads the folders once. */
export function broadestFont(): MachineFont | undefined {
  found ??= findFonts();
  return found.at(0);
}

/** The broadest font for one of PDFium's character sets; `undefined` without one, and for Latin sets. */
function fontOfCharset(charset: number): MachineFont | undefined {
  const bit = CODE_PAGE_BITS.get(charset);
  if (bit === undefined) return undefined;
  found ??= findFonts();
  return found.find(({ codePages }) => (codePages >>> bit) & 1);
}

/** The whole file; `null` when it cannot be read any more. */
function readFont({ path }: MachineFont): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

/** The regular fonts of this machine, the broadest first. */
function findFonts(): MachineFont[] {
  const paths: string[] = [];
  for (const directory of DIRECTORIES) listFontFiles(directory, 0, paths);
  return paths
    .flatMap((path) => describeFont(path) ?? [])
    .toSorted((one, other) => other.ranges - one.ranges || (one.path < other.path ? -1 : 1));
}

function listFontFiles(directory: string, depth: number, paths: string[]): void {
  try {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (paths.length === MAX_FILES) return;
      const path = join(directory, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH) listFontFiles(path, depth + 1, paths);
      else if (FONT_FILE.test(entry.name)) paths.push(path);
    }
  } catch {
    // Absent, or not readable from the sandbox.
  }
}

const HEAD_BYTES = 4096;
const OS2_BYTES = 82;
const MEDIUM_WIDTH = 5;

/** `null` for a file that is not a regular font. Source: OpenType, tables "font directory" and OS/2. */
function describeFont(path: string): MachineFont | null {
  let file: number | undefined;
  try {
    if (statSync(path).size > MAX_FONT_BYTES) return null;
    file = openSync(path, "r");
    const head = readAt(file, 0, HEAD_BYTES);
    const start = head.toString("latin1", 0, 4) === "ttcf" ? head.readUInt32BE(12) : 0;
    const directory = start === 0 ? head : readAt(file, start, HEAD_BYTES);
    const entry = findTable(directory, "OS/2");
    if (entry === null) return null;
    const table = readAt(file, entry, OS2_BYTES);
    const weight = table.readUInt16BE(4);
    const isUpright = (table.readUInt16BE(62) & 1) === 0;
    if (weight < 350 || weight > 450 || table.readUInt16BE(6) !== MEDIUM_WIDTH || !isUpright) return null;
    let ranges = 0;
    for (const byte of table.subarray(42, 58)) ranges += bitsIn(byte);
    return { path, start, codePages: table.readUInt32BE(78), ranges };
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readAt(file: number, position: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  return buffer.subarray(0, readSync(file, buffer, 0, bytes, position));
}

/** The position of a table in its file. */
function findTable(directory: Buffer, tag: string): number | null {
  for (let index = 0; index < directory.readUInt16BE(4); index++) {
    const entry = 12 + 16 * index;
    if (directory.toString("latin1", entry, entry + 4) === tag) return directory.readUInt32BE(entry + 8);
  }
  return null;
}

function bitsIn(byte: number): number {
  let bits = 0;
  for (let rest = byte; rest > 0; rest >>= 1) bits += rest & 1;
  return bits;
}
