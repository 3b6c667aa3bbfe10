/** A directory of a TIFF. */
export interface TiffDirectory {
  /** The whole numbers of each field by its tag, and their type. Of equal tags, the first counts. */
  fields: ReadonlyMap<number, { type: number; values: readonly number[] }>;
  /** Where the next directory begins; 0 after the last. */
  next: number;
}

/** Bytes of a whole number by its type: BYTE, SHORT, LONG, IFD, LONG8, IFD8. */
const sizes: Readonly<Record<number, number>> = { 1: 1, 3: 2, 4: 4, 13: 4, 16: 8, 18: 8 };
/** Only damaged directories have more. */
const [MAX_FIELDS, MAX_VALUES] = [1000, 64];

/**
 * Where the first directory of a TIFF (42) or BigTIFF (43) begins, and a reader of directories, which ignores fields beyond the end.
 * `null` for other bytes.
 *
 * Sources: TIFF 6.0, section 2; libtiff, "The BigTIFF File Format".
 */
export function openTiff(bytes: Buffer, versions: readonly number[]) {
  const order = bytes.toString("latin1", 0, 2);
  const numberAt = (at: number, size: number): number => {
    if (at + size > bytes.length) return 0;
    // More than 48 of 64 bits are beyond any file.
    const used = Math.min(size, 6);
    return order === "II" ? bytes.readUIntLE(at, used) : bytes.readUIntBE(at + size - used, used);
  };
  const version = numberAt(2, 2);
  if (!versions.includes(version) || !/II|MM/.test(order)) return null;
  const [countBytes, word] = version === 43 ? [8, 8] : [2, 4];
  const fieldBytes = 4 + 2 * word;
  const read = (start: number): TiffDirectory => {
    const fields: Map<number, { type: number; values: number[] }> = new Map();
    const end = start + countBytes + numberAt(start, countBytes) * fieldBytes;
    const last = Math.min(end, bytes.length, start + MAX_FIELDS * fieldBytes) - fieldBytes;
    for (let at = start + countBytes; at <= last; at += fieldBytes) {
      const [tag, type, count] = [numberAt(at, 2), numberAt(at + 2, 2), numberAt(at + 4, word)];
      const size = sizes[type] ?? 0;
      const from = count * size <= word ? at + 4 + word : numberAt(at + 4 + word, word);
      const length = size && Math.min(count, MAX_VALUES);
      const values = Array.from({ length }, (_, index) => numberAt(from + index * size, size));
      if (!fields.has(tag)) fields.set(tag, { type, values });
    }
    return { fields, next: numberAt(end, word) };
  };
  return { first: numberAt(word, word), read };
}
