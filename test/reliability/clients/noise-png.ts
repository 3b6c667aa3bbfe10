import sharp from "sharp";

/** A PNG about as large as its raw pixels. */
export function noisePng(width: number, height: number): Promise<Buffer> {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  return sharp({ create: { width, height, channels: 3, background: "#000", noise } })
    .png({ compressionLevel: 1 })
    .toBuffer();
}
