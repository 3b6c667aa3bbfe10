import { LAYER_KEYS, type LayerBlock, lengthField, readLayerBlocks } from "../psd/layer-blocks.ts";
import { readLength } from "../psd/psd-sections.ts";
import type { Edits } from "./edits.ts";

/** A file inside the document, without metadata; `undefined` to drop it. */
export type StripFile = (file: Buffer) => Promise<Buffer | undefined>;

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
export async function stripPlacedFiles(
  layers: Buffer,
  large: boolean,
  { edits, offset, strip }: { edits: Edits; offset: number; strip: StripFile },
): Promise<number> {
  let growth = 0;
  let position = 0;
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
  for (const block of readLayerBlocks(layers, large)) {
    const { key, data, start, end } = block;
    if (position === 0) blankStray(0, start);
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
  if (position < layers.length) blankStray(position, layers.length);
  return growth;
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
