import sharp from "sharp";

/** The longer side at which pictures are compared, in pixels. */
export const BOX = 256;
/** Evens out the anti-aliasing of edges, in pixels. */
const BLUR_SIGMA = 1.2;

/** RGBA of 8 bits. */
export interface Rgba {
  width: number;
  height: number;
  data: Buffer;
}

/** Reads the first picture of a PNG, at most {@link BOX} pixels long. */
export async function readRgba(png: Buffer): Promise<Rgba> {
  const { data, info } = await sharp(png)
    .resize({ width: BOX, height: BOX, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb")
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** The difference of two pictures in percent, at the size of the second. */
export async function percentDifference(ours: Rgba, reference: Rgba): Promise<number> {
  const size = { width: reference.width, height: reference.height };
  const differences = await Promise.all(
    ["#ffffff", "#000000"].map(async (ground) => {
      const [one, other] = await Promise.all([
        blurredOn(ground, ours, size),
        blurredOn(ground, reference, size),
      ]);
      let sum = 0;
      for (let index = 0; index < one.length; index++)
        sum += Math.abs((one[index] ?? 0) - (other[index] ?? 0));
      return (100 * sum) / (255 * one.length);
    }),
  );
  return Math.max(...differences);
}

async function blurredOn(
  background: string,
  picture: Rgba,
  size: { width: number; height: number },
): Promise<Buffer> {
  const { width, height, data } = picture;
  let image = sharp(data, { raw: { width, height, channels: 4 } }).flatten({ background });
  if (width !== size.width || height !== size.height) {
    const pixels = await image.raw().toBuffer();
    image = sharp(pixels, { raw: { width, height, channels: 3 } }).resize({ ...size, fit: "fill" });
  }
  return image.blur(BLUR_SIGMA).raw().toBuffer();
}
