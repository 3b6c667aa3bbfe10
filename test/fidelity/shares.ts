import type { Kind } from "./samples/sample.ts";

/** Two pictures of the same file that differ by more than this, in percent, look different. */
export const WITHIN_PERCENT = 2;

/** The least share of files that are taken, in percent of those that the reader opens and that no named reason refuses. */
export const TAKEN_PERCENT = 99.5;

/** The reader to which each type is compared. */
export const READERS: Record<Kind, string> = {
  png: "Chromium",
  jpeg: "Chromium",
  gif: "Chromium",
  svg: "Chromium",
  psd: "psd-tools, ImageMagick",
  pdf: "poppler",
};

/** The least share of each type's files within {@link WITHIN_PERCENT} of the reader, in percent: measured, rounded down. */
export const SHARES: Record<Kind, number> = { png: 98, jpeg: 89, gif: 95, svg: 95, psd: 77, pdf: 95 };
