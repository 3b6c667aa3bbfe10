import { isServiceError } from "@outrigger/core";
import { lengthField } from "../psd/layer-blocks.ts";
import { PSD_HEADER_BYTES, PSD_TYPE, unreadablePsd } from "../psd/psd-header.ts";
import { lengthBytes, readPsdSections } from "../psd/psd-sections.ts";
import { Edits } from "./edits.ts";
import { stripPdf } from "./strip-pdf.ts";
import { stripPlacedFiles } from "./strip-placed-files.ts";
import { stripRaster } from "./strip-raster.ts";

const LARGE_DOCUMENT = 2;
/** Bytes of the length of a section before the layers. */
const LENGTH_BYTES = 4;

/** IDs of image resources with data about people, devices and files. */
const personalResources = new Set([
  // Print settings of macOS.
  ...[1001, 1002],
  // Caption, IPTC, URL, slices (which name the file), workflow URL, jump to XPEP, URL list.
  ...[1008, 1028, 1035, 1050, 1051, 1052, 1054],
  // Thumbnails, which may show parts that were cropped or painted over later.
  ...[1033, 1036],
  // EXIF, EXIF of another kind, XMP, the digest of IPTC.
  ...[1058, 1059, 1060, 1061],
  // Print settings, which name printers.
  ...[1071, 1082, 1083, 1084, 1085],
  // Path and format of automatically saved files.
  ...[1086, 1087],
  // Lightroom's workflow.
  8000,
]);

/** Documents in a document in a document. */
const MAX_NESTED_DOCUMENTS = 3;

/**
 * Removes from a PSD or PSB the image resources with data about people, devices and files, and the metadata of files that
 * were placed in it. Layers, channels, paths, guides, colour profile and everything else in the document stay. The pieces
 * share the memory of `bytes`; `null` when there is nothing to remove. Rejects with `unsupported_media` for a truncated file.
 *
 * Orientation needs no handling: a PSD is stored upright, and its EXIF only repeats what a camera once wrote.
 *
 * Source: Adobe Photoshop File Formats Specification, "Image Resource IDs".
 */
export async function stripPsd(bytes: Buffer, depth = 0): Promise<readonly Buffer[] | null> {
  if (bytes.toString("latin1", 0, 4) !== "8BPS") throw unreadablePsd("it has no PSD header");
  const large = bytes[5] === LARGE_DOCUMENT;
  const { colourModeData, imageResources, layers } = readPsdSections(bytes, large);
  const lengthAt = PSD_HEADER_BYTES + LENGTH_BYTES + colourModeData.length;
  const first = lengthAt + LENGTH_BYTES;
  const edits = new Edits(bytes, PSD_TYPE);
  let keptBytes = 0;
  let position = 0;
  for (const { id, start, end } of readPsdResources(imageResources)) {
    if (personalResources.has(id)) edits.remove(first + start, first + end);
    else keptBytes += end - start;
    position = end;
  }
  // The rest cannot be parsed by any reader.
  edits.remove(first + position, first + imageResources.length);
  edits.replace(lengthAt, first, lengthField(keptBytes, false));
  const layersLengthAt = first + imageResources.length;
  const offset = layersLengthAt + lengthBytes(large);
  const growth = await stripPlacedFiles(layers, large, {
    edits,
    offset,
    strip: (file) => stripPlaced(file, depth),
  });
  edits.replace(layersLengthAt, offset, lengthField(layers.length + growth, large));
  return edits.apply();
}

/** A placed file without metadata; `undefined` if it is of another type, damaged, or nested too deeply. */
async function stripPlaced(file: Buffer, depth: number): Promise<Buffer | undefined> {
  const head = file.toString("latin1", 0, 5);
  const isDocument = head.startsWith("8BPS");
  if (!isDocument && head !== "%PDF-") return stripRaster(file)?.bytes;
  if (isDocument && depth === MAX_NESTED_DOCUMENTS) return undefined;
  try {
    return Buffer.concat((isDocument ? await stripPsd(file, depth + 1) : await stripPdf(file)) ?? [file]);
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return undefined;
    throw error;
  }
}

const signatures = new Set(["8BIM", "MeSa", "PHUT", "AgHg", "DCSR"]);

/** The range of an image resource in its section, with its name and padding. */
interface PsdResource {
  id: number;
  start: number;
  end: number;
}

/**
 * Walks the image resources of a PSD up to the end of their section or the first that cannot be parsed. Never throws.
 *
 * Source: Adobe Photoshop File Formats Specification, "Image Resource Blocks".
 */
function* readPsdResources(section: Buffer): Generator<PsdResource, void> {
  let start = 0;
  while (start + 12 <= section.length && isSignatureAt(section, start)) {
    const nameBytes = 1 + section.readUInt8(start + 6);
    const sizeAt = start + 6 + nameBytes + (nameBytes % 2);
    if (sizeAt + 4 > section.length) return;
    const dataBytes = section.readUInt32BE(sizeAt);
    const dataEnd = sizeAt + 4 + dataBytes;
    // Data are padded to an even length, but some writers omit the padding.
    const padding = isSignatureAt(section, dataEnd) ? 0 : dataBytes % 2;
    const end = Math.min(dataEnd + padding, section.length);
    yield { id: section.readUInt16BE(start + 4), start, end };
    start = end;
  }
}

function isSignatureAt(section: Buffer, position: number): boolean {
  return signatures.has(section.toString("latin1", position, position + 4));
}
