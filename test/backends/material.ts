import { createOriginals, type Original } from "../matrix/originals.ts";
import { noisePng } from "../reliability/clients/noise-png.ts";
import { jpegPhoto } from "../support/pictures.ts";

/** The files to upload; made once, because they are the same everywhere. */
export interface Material {
  originals: Record<OriginalName, Original>;
  /** About 9 KB. */
  small: Buffer;
  /** More than 3 MB: stores keep it in several pieces. */
  large: Buffer;
}

export async function createMaterial(): Promise<Material> {
  const [originals, photo, small, large] = await Promise.all([
    createOriginals(),
    jpegPhoto(160, 120),
    noisePng(60, 50),
    noisePng(1200, 900),
  ]);
  // Unlike a camera's file, it has no metadata that must be removed.
  const jpg = { type: "image/jpeg", bytes: photo, width: 160, height: 120, pages: 1 };
  return { originals: { ...originals, jpg }, small, large };
}
