import sharp from "sharp";

const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;
const WINDOW = 8;
const STEP = 4;

/** The mean SSIM of two pictures' brightness on white, in windows of 8 × 8 pixels (Wang and others, 2004). 1: equal. */
export async function similarity(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = [await readLuma(one), await readLuma(other)];
  if (a.width !== b.width || a.height !== b.height) throw new TypeError("The sizes differ");
  const side = Math.min(WINDOW, a.width, a.height);
  let sum = 0;
  let windows = 0;
  for (let top = 0; top + side <= a.height; top += STEP) {
    for (let left = 0; left + side <= a.width; left += STEP) {
      sum += ssimOfWindow(a, b, { left, top, side });
      windows++;
    }
  }
  return sum / windows;
}

interface Luma {
  pixels: Buffer;
  width: number;
  height: number;
}

async function readLuma(bytes: Buffer): Promise<Luma> {
  const image = sharp(bytes).flatten({ background: "#fff" }).toColourspace("b-w").extractChannel(0).raw();
  const { data, info } = await image.toBuffer({ resolveWithObject: true });
  return { pixels: data, width: info.width, height: info.height };
}

function ssimOfWindow(a: Luma, b: Luma, at: { left: number; top: number; side: number }): number {
  let [sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0];
  for (let y = at.top; y < at.top + at.side; y++) {
    for (let x = at.left; x < at.left + at.side; x++) {
      const p = a.pixels[y * a.width + x] ?? 0;
      const q = b.pixels[y * b.width + x] ?? 0;
      sumA += p;
      sumB += q;
      squaresA += p * p;
      squaresB += q * q;
      products += p * q;
    }
  }
  const count = at.side ** 2;
  const [meanA, meanB] = [sumA / count, sumB / count];
  const varianceA = squaresA / count - meanA ** 2;
  const varianceB = squaresB / count - meanB ** 2;
  const covariance = products / count - meanA * meanB;
  return (
    ((2 * meanA * meanB + C1) * (2 * covariance + C2)) /
    ((meanA ** 2 + meanB ** 2 + C1) * (varianceA + varianceB + C2))
  );
}
