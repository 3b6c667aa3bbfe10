import { type ImageResources, usableIccProfile } from "./image-resources.ts";
import { mergedAlphaIndex } from "./merged-alpha.ts";
import { planPalette } from "./palette-plan.ts";
import { type PixelPlan, planPixels } from "./pixel-plan.ts";
import { type PsdHeader, truncatedPsd } from "./psd-header.ts";
import type { PsdSections } from "./psd-sections.ts";
import { checkStoredRows, type StoredRows } from "./stored-rows.ts";
import { createTiff } from "./tiff.ts";
import { visitRows } from "./visit-rows.ts";

/** The merged picture of a file, not unpacked yet. */
export interface MergedPicture {
  /** All channels, needed or not. */
  stored: StoredRows;
  plan: PixelPlan;
}

/**
 * Finds the merged picture and checks that it is complete, without unpacking it. Throws `unsupported_media`.
 *
 * Source: Adobe Photoshop File Formats Specification, "Image Data Section".
 */
export function findMergedPicture(
  header: PsdHeader,
  sections: PsdSections,
  resources: ImageResources,
): MergedPicture {
  if (sections.mergedPicture.length < 2) throw truncatedPsd();
  const stored: StoredRows = {
    compression: sections.mergedPicture.readUInt16BE(),
    data: sections.mergedPicture.subarray(2),
    rows: header.height * header.channels,
    width: header.width,
    depth: header.depth,
    longCounts: header.large,
  };
  checkStoredRows(stored);
  const iccProfile = usableIccProfile(resources.iccProfile, header.mode);
  const plan =
    header.mode === "indexed"
      ? planPalette(header, sections.colourModeData, resources.transparentIndex, iccProfile)
      : planPixels(header, mergedAlphaIndex(sections.layers, header.large, resources), iccProfile);
  return { stored, plan };
}

/** Unpacks the merged picture into a TIFF. Rejects with `unsupported_media`. */
export async function mergedPictureAsTiff({ stored, plan }: MergedPicture): Promise<Buffer> {
  const { file, pixels } = createTiff(plan.layout);
  const { height } = plan.layout;
  await visitRows(stored, { first: 0, end: height * plan.channels }, (row, source, start) => {
    plan.writeRow(pixels, Math.floor(row / height), row % height, source, start);
  });
  plan.finish(pixels);
  return file;
}
