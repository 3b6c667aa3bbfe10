import { cicpCurves, cicpPrimaries, SRGB_CURVE, SRGB_PRIMARIES, writeColourProfile } from "./png/png-cicp.ts";

/** Open code points stand for sRGB (ISO/IEC 23000-22, section 7.3.6.4). */
const OPEN = Buffer.of(0, 2, 0, 2);
const primaries: typeof cicpPrimaries = { ...cicpPrimaries, 2: SRGB_PRIMARIES };
const curves: typeof cicpCurves = {
  ...cicpCurves,
  // Unlike in PNG, browsers show video as sRGB.
  ...{ 1: SRGB_CURVE, 2: SRGB_CURVE, 6: SRGB_CURVE, 11: SRGB_CURVE, 14: SRGB_CURVE, 15: SRGB_CURVE },
  // PQ and HLG on usual screens: powers that fit the grey of Chromium within 1.4 % on average.
  ...{ 16: [6.2, 1.17, 0.2, 0, 0], 18: [3.55, 0.94, 0.1, 0, 0] },
};
const hdrCurves = new Set([16, 18]);

/** The ICC profile of the main picture of an AVIF or HEIC, else one of its code points; `null`: sRGB, or unknown code points. */
export function readHeifColours(bytes: Buffer): { iccProfile: Buffer | null; isHdr: boolean } {
  const boxes = new Map(colourBoxesOf(bytes).map((box) => [box.toString("latin1", 0, 4), box.subarray(4)]));
  const codes = boxes.get("nclx") ?? OPEN;
  const isHdr = hdrCurves.has(numberAt(codes, 2, 2));
  const [corners, curve] = [primaries[numberAt(codes, 0, 2)], curves[numberAt(codes, 2, 2)]];
  const isUsual = !corners || !curve || (corners === SRGB_PRIMARIES && curve === SRGB_CURVE);
  const profile = boxes.get("prof") ?? boxes.get("rICC");
  return { iccProfile: profile ?? (isUsual ? null : writeColourProfile(curve, corners)), isHdr };
}

/**
 * The contents of `colr` of the main picture; of its first tile where it has none. Damaged boxes are ignored.
 *
 * Sources: ISO/IEC 14496-12, sections 8.11 and 12.1.5; ISO/IEC 23008-12, sections 6.6.2 and 9.3.
 */
function colourBoxesOf(bytes: Buffer): Buffer[] {
  const meta = contentOf(bytes, "meta").subarray(4);
  const [item, references, properties] = ["pitm", "iref", "iprp"].map((type) => contentOf(meta, type));
  const all = listBoxes(contentOf(properties, "ipco"));
  const coloursOf = (id: number) =>
    associationsOf(id, contentOf(properties, "ipma"))
      .flatMap((number) => all.slice(number - 1, number))
      .flatMap(([type, content]) => (type === "colr" ? [content] : []));
  const main = numberAt(item, 4, item?.[0] ? 4 : 2);
  const own = coloursOf(main);
  const idBytes = references?.[0] ? 4 : 2;
  const tiles = listBoxes(references?.subarray(4)).find(
    ([type, content]) => type === "dimg" && numberAt(content, 0, idBytes) === main,
  );
  return own.length === 0 ? coloursOf(numberAt(tiles?.[1], idBytes + 2, idBytes)) : own;
}

/** The numbers of the properties of an item, from 1. */
function associationsOf(item: number, ipma: Buffer): number[] {
  const idBytes = ipma[0] ? 4 : 2;
  const [bytes, mask] = (numberAt(ipma, 3, 1) & 1) === 1 ? [2, 0x7fff] : [1, 0x7f];
  for (let at = 8; at < ipma.length; ) {
    const [first, length] = [at + idBytes + 1, numberAt(ipma, at + idBytes, 1)];
    const read = (_: unknown, index: number) => numberAt(ipma, first + index * bytes, bytes) & mask;
    if (numberAt(ipma, at, idBytes) === item) return Array.from({ length }, read);
    at = first + length * bytes;
  }
  return [];
}

/** The content of the first box of a type; empty without one. */
function contentOf(boxes: Buffer | undefined, wanted: string): Buffer {
  return listBoxes(boxes).find(([type]) => type === wanted)?.[1] ?? Buffer.alloc(0);
}

/** Files of pictures have fewer. */
const MAX_BOXES = 10_000;

function listBoxes(bytes: Buffer = Buffer.alloc(0)): [type: string, content: Buffer][] {
  const boxes: [string, Buffer][] = [];
  for (let at = 0; at + 8 <= bytes.length && boxes.length < MAX_BOXES; ) {
    const size = numberAt(bytes, at, 4);
    // More than 48 of 64 bits are beyond any file.
    const [head, length] = size === 1 ? [16, numberAt(bytes, at + 10, 6)] : [8, size || bytes.length];
    boxes.push([bytes.toString("latin1", at + 4, at + 8), bytes.subarray(at + head, at + length)]);
    at += Math.max(head, length);
  }
  return boxes;
}

/** Zero beyond the end. */
function numberAt(bytes: Buffer | undefined, at: number, size: number): number {
  return bytes !== undefined && at + size <= bytes.length ? bytes.readUIntBE(at, size) : 0;
}
