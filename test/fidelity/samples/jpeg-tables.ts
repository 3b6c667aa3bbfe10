/** The typical tables of ITU-T T.81, annex K. */
export const QUANTISATION = [
  16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58,
  51, 61, 60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98, 103, 104, 103,
  62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99,
] as const;

/** Rows and columns of the coefficients in zigzag order, as `row * 8 + column`. */
export const ZIGZAG = [
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46,
  53, 60, 61, 54, 47, 55, 62, 63,
] as const;

/** A Huffman table: how many codes each length from 1 to 16 has, and their values. */
export interface HuffmanTable {
  counts: readonly number[];
  values: readonly number[];
}

export const DC_TABLE: HuffmanTable = {
  counts: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
  values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
};

export const AC_TABLE: HuffmanTable = {
  counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125],
  values: [
    ...Buffer.from(
      "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a" +
        "434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8" +
        "a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa",
      "hex",
    ),
  ],
};

/** The code and its length for each value. */
export function codesOf({
  counts,
  values,
}: HuffmanTable): Map<number, readonly [code: number, bits: number]> {
  const codes = new Map<number, readonly [number, number]>();
  let [code, place] = [0, 0];
  for (const [index, count] of counts.entries()) {
    for (let left = count; left > 0; left--) codes.set(values[place++] ?? 0, [code++, index + 1]);
    code <<= 1;
  }
  return codes;
}
