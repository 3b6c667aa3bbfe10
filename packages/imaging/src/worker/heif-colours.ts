import { cicpCurves, cicpPrimaries, SRGB_CURVE, SRGB_PRIMARIES, writeGammaProfile } from "./png/png-gamma.ts";

/** Code points that leave the colours open: they are those of sRGB (ISO/IEC 23000-22, section 7.3.6.4). */
const OPEN = 2;
/** Curves of video. In these types, unlike in PNG, browsers show them as that of sRGB. */
const videoCurves = new Set([1, 6, 11, 14, 15]);
/** PQ and HLG, as {@link cicpCurves}: powers that fit the grey of Chromium on usual screens within 1.4 % on average. */
const hdrCurves: typeof cicpCurves = { 16: [6.2, 1.17, 0.2, 0, 0], 18: [3.55, 0.94, 0.1, 0, 0] };

/** The colours of the main picture of an AVIF or HEIC. */
interface HeifColours {
  /** Its ICC profile, or one of its code points. `null`: sRGB. */
  iccProfile: Buffer | null;
  /** Whether its code points name PQ or HLG. */
  isHdr: boolean;
}

/** A profile overrules code points, and unknown ones stand for sRGB. Never throws. */
export function readHeifColours(bytes: Buffer): HeifColours {
  const boxes = listColourBoxes(bytes);
  const ofKind = (kind: RegExp) => boxes.find((box) => kind.test(box.toString("latin1", 0, 4)))?.subarray(4);
  const profile = ofKind(/prof|rICC/);
  const codes = ofKind(/nclx/) ?? Buffer.of(0, OPEN, 0, OPEN);
  const code = numberAt(codes, 2, 2);
  const curve = code === OPEN || videoCurves.has(code) ? SRGB_CURVE : (cicpCurves[code] ?? hdrCurves[code]);
  const primaries = numberAt(codes, 0, 2) === OPEN ? SRGB_PRIMARIES : cicpPrimaries[numberAt(codes, 0, 2)];
  const isHdr = Object.hasOwn(hdrCurves, code);
  // The signature of every profile (ICC.1:2022, 7.2.11).
  if (profile?.toString("latin1", 36, 40) === "acsp") return { iccProfile: profile, isHdr };
  const isSrgb = curve === SRGB_CURVE && primaries === SRGB_PRIMARIES;
  if (isSrgb || curve === undefined || primaries === undefined) return { iccProfile: null, isHdr };
  return { iccProfile: writeGammaProfile(curve, primaries), isHdr };
}

/** Version and flags at the start of some boxes. */
const VERSION_BYTES = 4;

/**
 * The contents of the `colr` boxes of the main picture. Those of its first tile if it has none.
 *
 * Sources: ISO/IEC 14496-12, sections 8.11 and 12.1.5; ISO/IEC 23008-12, sections 6.6.2 and 9.3.
 */
function listColourBoxes(bytes: Buffer): Buffer[] {
  const meta = contentOf(bytes, "meta").subarray(VERSION_BYTES);
  const [item, references] = [contentOf(meta, "pitm"), contentOf(meta, "iref")];
  const main = numberAt(item, VERSION_BYTES, item[0] === 0 ? 2 : 4);
  const idBytes = references[0] === 0 ? 2 : 4;
  const tiles = [...boxesOf(references.subarray(VERSION_BYTES))].find(
    ([type, content]) => type === "dimg" && numberAt(content, 0, idBytes) === main,
  );
  const own = colourBoxesOf(main, meta);
  if (own.length > 0 || tiles === undefined) return own;
  return colourBoxesOf(numberAt(tiles[1], idBytes + 2, idBytes), meta);
}

function colourBoxesOf(item: number, meta: Buffer): Buffer[] {
  const properties = [...boxesOf(contentOf(meta, "iprp"))];
  const all = properties.flatMap(([type, content]) => (type === "ipco" ? [...boxesOf(content)] : []));
  const numbers = properties.flatMap(([type, content]) =>
    type === "ipma" ? associationsOf(item, content) : [],
  );
  const used = numbers.flatMap((number) => all.slice(Math.max(0, number - 1), number));
  return used.filter(([type]) => type === "colr").map(([, content]) => content);
}

/** The numbers of an item's properties, from 1. */
function associationsOf(item: number, ipma: Buffer): number[] {
  const idBytes = ipma[0] === 0 ? 2 : 4;
  const [bytes, mask] = (numberAt(ipma, 3, 1) & 1) === 1 ? [2, 0x7fff] : [1, 0x7f];
  for (let at = 8; at < ipma.length; ) {
    const first = at + idBytes + 1;
    const count = numberAt(ipma, first - 1, 1);
    const numbers = Array.from({ length: count }, (_, index) => numberAt(ipma, first + index * bytes, bytes));
    if (numberAt(ipma, at, idBytes) === item) return numbers.map((number) => number & mask);
    at = first + count * bytes;
  }
  return [];
}

function contentOf(bytes: Buffer, wanted: string): Buffer {
  for (const [type, content] of boxesOf(bytes)) if (type === wanted) return content;
  return Buffer.alloc(0);
}

/** The boxes directly in `bytes`. */
function* boxesOf(bytes: Buffer): Generator<readonly [type: string, content: Buffer]> {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    // Of the 64 bits of a length, more than 48 are beyond any file.
    const [head, length] = size === 1 ? [16, numberAt(bytes, at + 10, 6)] : [8, size || bytes.length - at];
    yield [bytes.toString("latin1", at + 4, at + 8), bytes.subarray(at + head, at + length)];
    at += Math.max(head, length);
  }
}

/** Zero beyond the end. */
function numberAt(bytes: Buffer, at: number, size: number): number {
  return at + size <= bytes.length ? bytes.readUIntBE(at, size) : 0;
}
