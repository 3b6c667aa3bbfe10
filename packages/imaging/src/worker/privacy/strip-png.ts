import { PNG_SIGNATURE, readPngChunks, writePngChunk } from "../png/png-chunks.ts";
import { Edits } from "./edits.ts";
import { readExifOrientation, writeExifOrientation } from "./exif-orientation.ts";

const TYPE = "image/png";

/** Ancillary chunks for appearance, colour and animation. Two had another spelling in drafts. */
const essentials = new Set([
  ...["tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "mDCv", "cLLI", "cLLi", "sBIT", "bKGD", "hIST"],
  ...["pHYs", "sPLT", "acTL", "fcTL", "fdAT"],
]);

/**
 * Removes from a PNG everything that does not affect its pixels: EXIF, texts (including XMP and old raw profiles), the
 * time, private chunks, and everything after its end. It keeps critical chunks, transparency, colour, density and
 * animation. EXIF with an orientation is reduced to that. The pieces share the memory of `bytes`; `null` when there is
 * nothing to remove. Throws `unsupported_media` for bytes that are not a PNG.
 *
 * Source: PNG specification, third edition, sections 5 and 11.
 */
export function stripPng(bytes: Buffer): readonly Buffer[] | null {
  const edits = new Edits(bytes, TYPE);
  let position = PNG_SIGNATURE.length;
  for (const { type, start, data, end } of readPngChunks(bytes)) {
    position = end;
    const orientation = type === "eXIf" ? readExifOrientation(data) : 1;
    if (orientation !== 1)
      edits.replace(start, end, writePngChunk("eXIf", writeExifOrientation(orientation)));
    else if (!isCritical(type) && !essentials.has(type)) edits.remove(start, end);
  }
  edits.remove(position, bytes.length);
  return edits.apply();
}

/** Whether decoders must not skip a chunk: the first letter of its type is upper case. */
function isCritical(type: string): boolean {
  return (type.charCodeAt(0) & 0x20) === 0;
}
