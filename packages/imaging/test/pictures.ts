import sharp from "sharp";

/** Red, green, blue. */
export type Rgb = [number, number, number];

/** The corners of {@link cornered}, clockwise from the upper left. */
export const CORNERS: Rgb[] = [
  [220, 20, 20],
  [20, 200, 20],
  [20, 20, 220],
  [230, 230, 30],
];

/** Raw RGB of a picture with one colour in each quarter. */
export function cornered(width: number, height: number, colours = CORNERS): Buffer {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const right = x >= width / 2;
      const lower = y >= height / 2;
      const corner = lower ? (right ? 2 : 3) : right ? 1 : 0;
      pixels.set(colours[corner] ?? [], (y * width + x) * 3);
    }
  }
  return pixels;
}

/** The colours in the middle of each quarter, clockwise from the upper left. */
export async function cornersOf(picture: Buffer): Promise<Rgb[]> {
  const { data, info } = await sharp(picture).removeAlpha().toColourspace("srgb").raw().toBuffer({
    resolveWithObject: true,
  });
  const at = (x: number, y: number): Rgb => {
    const offset = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    return [data[offset] ?? -1, data[offset + 1] ?? -1, data[offset + 2] ?? -1];
  };
  return [at(0.25, 0.25), at(0.75, 0.25), at(0.75, 0.75), at(0.25, 0.75)];
}

/** The largest difference of any channel of any two colours. */
export function distance(some: Rgb[], others: Rgb[]): number {
  return Math.max(
    ...some.flatMap((colour, index) =>
      colour.map((value, channel) =>
        Math.abs(value - (others[index]?.[channel] ?? Number.POSITIVE_INFINITY)),
      ),
    ),
  );
}

/** A picture that resembles a photograph: soft shapes and grain. */
export async function photo(width: number, height: number): Promise<Buffer> {
  const noise = (side: [number, number], sigma: number) => ({
    create: {
      width: side[0],
      height: side[1],
      channels: 3,
      background: "#888888",
      noise: { type: "gaussian", mean: 128, sigma },
    } as const,
  });
  const shapes = await sharp(noise([Math.ceil(width / 10), Math.ceil(height / 10)], 60))
    .blur(4)
    .normalise()
    .resize(width, height, { fit: "fill" })
    .png({ compressionLevel: 1 })
    .toBuffer();
  const grain = await sharp(noise([width, height], 8))
    .png({ compressionLevel: 1 })
    .toBuffer();
  return await sharp(shapes)
    .composite([{ input: grain, blend: "overlay" }])
    .png()
    .toBuffer();
}

/** An animated GIF of plain frames, one for each colour. */
export async function animation(
  width: number,
  height: number,
  colours: Rgb[],
  options: { delay: number[]; loop: number },
): Promise<Buffer> {
  const frames = colours.map((colour) => Buffer.alloc(width * height * 3, Buffer.from(colour)));
  const raw = { width, height: height * colours.length, channels: 3, pageHeight: height } as const;
  return await sharp(Buffer.concat(frames), { raw })
    .gif({ ...options, keepDuplicateFrames: true })
    .toBuffer();
}
