import type { Depth } from "./psd-header.ts";

/**
 * Turns differences between neighbours back into samples, in place. The bytes of floats are stored by significance, all
 * first bytes of a row before all second ones.
 *
 * Source: Adobe Photoshop TIFF Technical Note 3, "Floating Point Predictor", and TIFF 6.0, section 14.
 */
export function undoPrediction(row: Buffer, depth: Depth): void {
  if (depth === 16) {
    sumWords(row);
    return;
  }
  sumBytes(row);
  if (depth === 32) gatherFloats(row);
}

function sumBytes(row: Buffer): void {
  let sum = 0;
  for (let index = 0; index < row.length; index++) {
    sum = (sum + (row[index] ?? 0)) & 0xff;
    row[index] = sum;
  }
}

function sumWords(row: Buffer): void {
  let sum = 0;
  for (let index = 0; index < row.length; index += 2) {
    sum = (sum + (((row[index] ?? 0) << 8) | (row[index + 1] ?? 0))) & 0xffff;
    row[index] = sum >> 8;
    row[index + 1] = sum & 0xff;
  }
}

function gatherFloats(row: Buffer): void {
  const bySignificance = Buffer.from(row);
  const width = row.length / 4;
  for (let sample = 0; sample < width; sample++) {
    for (let byte = 0; byte < 4; byte++) {
      row[sample * 4 + byte] = bySignificance[byte * width + sample] ?? 0;
    }
  }
}
