/** A directory of a TIFF. */
export interface TiffDirectory {
  /** By tag. Of equal tags, the first counts. */
  fields: ReadonlyMap<number, { type: number; values: readonly number[] }>;
  /** Where the next directory begins; 0 after the last. */
  next: number;
}

/** Versions of the format. */
export const [TIFF, BIG_TIFF] = [42, 43];

/** Bytes of a value by its type: BYTE, SHORT, LONG, IFD, LONG8, IFD8. Others are not read. */
const sizes: Readonly<Record<number, number>> = { 1: 1, 3: 2, 4: 4, 13: 4, 16: 8, 18: 8 };
/** Only damaged directories have more. */
const [MAX_FIELDS, MAX_VALUES] = [1000, 64];

/**
 * Opens the TIFF in `bytes`: where its first directory begins, and a reader of directories. `null` for other bytes. The reader never
 * throws: it ignores fields beyond the end.
 *
 * Sources: TIFF 6.0, section 2; libtiff, "The BigTIFF File Format".
 */
export function openTiff(bytes: Buffer, versions: readonly number[]) {
  const isLittle = bytes.toString("latin1", 0, 2) === "II";
  const numberAt = (at: number, size: number): number => {
    if (at + size > bytes.length) return 0;
    // Of 64 bits, more than 48 are beyond any file.
    const used = Math.min(size, 6);
    return isLittle ? bytes.readUIntLE(at, used) : bytes.readUIntBE(at + size - used, used);
  };
  const version = numberAt(2, 2);
  if (!versions.includes(version) || (!isLittle && bytes.toString("latin1", 0, 2) !== "MM")) return null;
  const [countBytes, wordBytes] = version === BIG_TIFF ? [8, 8] : [2, 4];
  const fieldBytes = 4 + 2 * wordBytes;
  const read = (start: number): TiffDirectory => {
    const fields: Map<number, { type: number; values: number[] }> = new Map();
    const count = numberAt(start, countBytes);
    for (let index = 0; index < Math.min(count, MAX_FIELDS); index++) {
      const at = start + countBytes + index * fieldBytes;
      if (at + fieldBytes > bytes.length) break;
      const [tag, type, length] = [numberAt(at, 2), numberAt(at + 2, 2), numberAt(at + 4, wordBytes)];
      const size = sizes[type] ?? 0;
      const valueAt = at + 4 + wordBytes;
      const from = length * size <= wordBytes ? valueAt : numberAt(valueAt, wordBytes);
      const values = Array.from({ length: size && Math.min(length, MAX_VALUES) }, (_, n) =>
        numberAt(from + n * size, size),
      );
      if (!fields.has(tag)) fields.set(tag, { type, values });
    }
    return { fields, next: numberAt(start + countBytes + count * fieldBytes, wordBytes) };
  };
  return { first: numberAt(version === BIG_TIFF ? 8 : 4, wordBytes), read };
}
