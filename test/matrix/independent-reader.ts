import sharp from "sharp";
import { programs, run } from "../support/programs.ts";

/** Pixels as read by a program other than ours: RGB, flattened on white. */
export interface ReadPicture {
  width: number;
  height: number;
  rgb: Buffer;
}

/** Points of a PDF's page per pixel: 72 dpi gives one pixel per point. */
const POINTS_PER_INCH = 72;

export interface ReadOptions {
  /** The size to scale the picture to. */
  resize?: { width: number; height: number };
  /** Pixels per point of a PDF. @default 1 */
  pdfDensity?: number;
}

/**
 * Reads a picture with ImageMagick, after rsvg-convert for SVG and pdftoppm for PDF. AVIF is read by sharp, because not
 * every ImageMagick can read it, and so is an animated WebP, whose transparency ImageMagick shows black.
 */
export async function readPicture(
  bytes: Buffer,
  format: string,
  options: ReadOptions = {},
): Promise<ReadPicture> {
  const { pdfDensity = 1, resize } = options;
  switch (format) {
    case "svg":
      return readPicture(await output(programs.rsvgConvert, ["-f", "png"], bytes), "png", options);
    case "pdf": {
      const density = ["-r", String(POINTS_PER_INCH * pdfDensity)];
      const args = ["-png", "-singlefile", "-cropbox", ...density, "-"];
      return readPicture(await output(programs.pdftoppm, args, bytes), "png", options);
    }
    case "webp":
      if (!bytes.subarray(0, 64).includes("ANIM")) break;
      return readPicture(await sharp(bytes).png().toBuffer(), "png", options);
    case "avif":
      return readPicture(await sharp(bytes).png().toBuffer(), "png", options);
  }
  const scaling = resize === undefined ? [] : ["-resize", `${resize.width}x${resize.height}!`];
  const flattening = ["-auto-orient", "-background", "white", "-flatten", ...scaling];
  const args = [`${format}:-[0]`, ...flattening, "-colorspace", "sRGB", "-depth", "8", "ppm:-"];
  return parsePpm(await output(programs.convert, args, bytes));
}

async function output(program: string, args: string[], input: Buffer): Promise<Buffer> {
  const { status, stdout, stderr } = await run(program, args, { input });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}: ${stderr}`);
  return stdout;
}

/** Binary PPM: `P6`, width, height, 255, one white space, pixels. */
export function parsePpm(bytes: Buffer): ReadPicture {
  const header = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(bytes.toString("latin1", 0, 64));
  if (header === null) throw new Error("The program's output is not a PPM of 8 bits");
  return { width: Number(header[1]), height: Number(header[2]), rgb: bytes.subarray(header[0].length) };
}

/** The mean difference of all channels of all pixels, 0 to 255. The pictures must have the same size. */
export function meanDifference(one: ReadPicture, other: ReadPicture): number {
  if (one.rgb.length !== other.rgb.length) return Number.POSITIVE_INFINITY;
  let sum = 0;
  for (const [index, value] of one.rgb.entries()) sum += Math.abs(value - (other.rgb[index] ?? 0));
  return sum / one.rgb.length;
}
