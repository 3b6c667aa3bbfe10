import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

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
export function fontOfCharset(charset: number): MachineFont | undefined {
  const bit = CODE_PAGE_BITS.get(charset);
  if (bit === undefined) return undefined;
  found ??= findFonts();
  return found.find(({ codePages }) => (codePages >>> bit) & 1);
}

/** The whole file; `null` when it cannot be read any more. */
export function readFont({ path }: MachineFont): Buffer | null {
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
