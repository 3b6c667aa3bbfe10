import { isServiceError } from "@outrigger/core/values";
import {
  LAYER_KEYS,
  type LayerBlock,
  lengthField,
  readLayerBlocks,
  startOfBlocks,
} from "../psd/layer-blocks.ts";
import {
  lengthBytes,
  PSD_HEADER_BYTES,
  PSD_TYPE,
  readLength,
  readPsdSections,
  unreadablePsd,
} from "../psd/psd-header.ts";
import { Edits } from "./edits.ts";
import { stripPdf } from "./strip-pdf.ts";
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

/** A file inside the document, without metadata; `undefined` to drop it. */
type StripFile = (file: Buffer) => Promise<Buffer | undefined>;

/** Blocks that hold the files of smart objects. */
const PLACED_FILES = new Set(["lnkD", "lnk2", "lnk3"]);
/** Blocks that hold paths of files outside the document, notes with the names of their authors, and content credentials. */
const PERSONAL_BLOCKS = new Set(["lnkE", "Anno", "CAI "]);
/** Keys of these blocks in a place where no program writes them, such as a layer. */
const STRAY_KEYS = ["lnkD", "lnk2", "lnk3", "lnkE", "Anno"];

/**
 * Cleans the files that were placed in a PSD or PSB, and drops those that cannot be cleaned. Their names become neutral. Adds
 * the changes to `edits`, in which the section of layers begins at `offset`; returns how many bytes longer it becomes.
 *
 * Source: Adobe Photoshop File Formats Specification, "Linked Layer".
 */
async function stripPlacedFiles(
  layers: Buffer,
  large: boolean,
  { edits, offset, strip }: { edits: Edits; offset: number; strip: StripFile },
): Promise<number> {
  let growth = 0;
  let position = startOfBlocks(layers, large);
  const blankStray = (start: number, end: number): void => {
    for (const block of findStrayBlocks(layers.subarray(start, end))) {
      // A key that no reader knows.
      edits.replace(
        offset + start + block.start,
        offset + start + block.end,
        Buffer.alloc(block.end - block.start),
      );
    }
  };
  blankStray(0, position);
  for (const block of readLayerBlocks(layers, large)) {
    const { key, data, start, end } = block;
    position = end;
    if (LAYER_KEYS.has(key)) blankStray(start, end);
    const isPlaced = PLACED_FILES.has(key);
    if (!isPlaced && !PERSONAL_BLOCKS.has(key)) continue;
    const stripped = isPlaced ? await stripItems(data, strip) : Buffer.alloc(0);
    if (stripped.equals(data)) continue;
    const written = stripped.length === 0 ? stripped : writeBlock(block, layers, stripped);
    edits.replace(offset + start, offset + end, written);
    growth += written.length - (end - start);
  }
  // The rest cannot be parsed by any reader.
  edits.remove(offset + position, offset + layers.length);
  return growth - (layers.length - position);
}

/** Blocks with one of {@link STRAY_KEYS}, from their key to their end. */
function* findStrayBlocks(bytes: Buffer): Generator<{ start: number; end: number }, void> {
  for (const key of STRAY_KEYS) {
    let end = 0;
    for (let at = bytes.indexOf(key, 4, "latin1"); at !== -1; ) {
      const isBlock = /^8B(?:IM|64)$/.test(bytes.toString("latin1", at - 4, at)) && at + 12 <= bytes.length;
      // The lower half of a length of eight bytes.
      const lengths = isBlock ? [bytes.readUInt32BE(at + 4), bytes.readUInt32BE(at + 8)] : [];
      const length = lengths[0] === 0 ? (lengths[1] ?? 0) + 4 : lengths[0];
      if (length !== undefined) {
        end = Math.min(bytes.length, at + 8 + length);
        yield { start: at, end };
      }
      // Keys within a block vanish with it.
      at = bytes.indexOf(key, Math.max(at + 4, end), "latin1");
    }
  }
}

function writeBlock({ start, long }: LayerBlock, layers: Buffer, data: Buffer): Buffer {
  return Buffer.concat([layers.subarray(start, start + 8), lengthField(data.length, long), data]);
}

async function stripItems(data: Buffer, strip: StripFile): Promise<Buffer> {
  const items: Buffer[] = [];
  for (let start = 0; start + 8 < data.length; ) {
    const length = readLength(data, start, true);
    const end = start + 8 + length;
    const item = data.subarray(start + 8, end);
    const stripped = length <= item.length ? await stripItem(item, strip) : undefined;
    if (stripped !== undefined) {
      items.push(lengthField(stripped.length, true), stripped, Buffer.alloc(-stripped.length & 3));
    }
    start = end + (-length & 3);
  }
  return Buffer.concat(items);
}

/** The first bytes of files that can be cleaned. */
const KNOWN_FILE = /^(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF|8BPS|%PDF)/;
const NEUTRAL_NAME = "placed";

/** `undefined` to drop the item: it is a path or no known file. */
async function stripItem(item: Buffer, strip: StripFile): Promise<Buffer | undefined> {
  if (item.toString("latin1", 0, 4) !== "liFD" || item.length < 40) return undefined;
  const nameAt = 9 + item.readUInt8(8);
  if (nameAt + 4 > item.length) return undefined;
  const nameEnd = nameAt + 4 + 2 * item.readUInt32BE(nameAt);
  // Type, creator, length, and whether a description comes before the file.
  const fixedEnd = nameEnd + 17;
  if (fixedEnd > item.length) return undefined;
  const length = readLength(item, nameEnd + 8, true);
  const hasDescription = item.readUInt8(fixedEnd - 1) !== 0;
  for (let start = fixedEnd; start + length <= item.length; start++) {
    if (KNOWN_FILE.test(item.toString("latin1", start, start + 4))) {
      const file = await strip(item.subarray(start, start + length));
      if (file === undefined) return undefined;
      const name = neutralName(item.subarray(nameAt + 4, nameEnd));
      return Buffer.concat([
        ...[
          item.subarray(0, nameAt),
          name,
          item.subarray(nameEnd, nameEnd + 8),
          lengthField(file.length, true),
        ],
        ...[item.subarray(nameEnd + 16, start), file, item.subarray(start + length)],
      ]);
    }
    if (!hasDescription) return undefined;
  }
  return undefined;
}

/** The length and characters of a name with the extension of an old one. */
function neutralName(old: Buffer): Buffer {
  const characters = Buffer.from(old.subarray(0, old.length & ~1))
    .swap16()
    .toString("utf16le");
  const extension = /\.\w{1,4}(?=\0*$)/.exec(characters)?.[0] ?? "";
  const name = Buffer.from(`${NEUTRAL_NAME}${extension}\0`, "utf16le").swap16();
  return Buffer.concat([lengthField(name.length / 2, false), name]);
}
