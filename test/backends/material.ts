import { noisePng } from "../reliability/clients/noise-png.ts";

/** The files to upload; made once, because they are the same everywhere. */
export interface Material {
  /** About 9 KB: 60 × 50 pixels. */
  small: Buffer;
  /** More than 3 MB: stores keep it in several pieces. */
  large: Buffer;
}

export async function createMaterial(): Promise<Material> {
  const [small, large] = await Promise.all([noisePng(60, 50), noisePng(1200, 900)]);
  return { small, large };
}
