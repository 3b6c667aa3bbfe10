import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writePsd } from "../packages/imaging/src/worker/psd/write-psd.ts";
import { createRandom } from "./hostile/random.ts";
import { layer, layeredPsd, plain } from "./support/layered-psd.ts";
import { programs } from "./support/programs.ts";
import { meanDifference, type Rgba, readPng, readWithOurs, readWithPsdTools } from "./support/psd-oracles.ts";
import { samplePsd } from "./support/psd-samples.ts";

let folder: string;
let srgbProfile: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outrigger-psd-"));
  srgbProfile = join(folder, "srgb.icc");
  const picture = { create: { width: 1, height: 1, channels: 3, background: "#777777" } } as const;
  await writeFile(srgbProfile, await profileOf(sharp(picture).withIccProfile("srgb").png()));
});
afterAll(() => rm(folder, { recursive: true }));

async function profileOf(picture: Sharp): Promise<Buffer> {
  const { icc } = await sharp(await picture.toBuffer()).metadata();
  if (icc === undefined) throw new Error("The picture has no profile");
  return icc;
}

/** The merged picture as ImageMagick reads it, taken from its profile to sRGB. */
async function readWithImageMagick(bytes: Buffer, more: string[] = []): Promise<Rgba> {
  const conversion = [...more, "-profile", srgbProfile, "-colorspace", "sRGB", "-depth", "8"];
  return await readPng(programs.convert, ["psd:-[0]", ...conversion, "png32:-"], bytes);
}

/** What littlecms makes of one colour of Lab under D50: L of 255, a and b plus 128. */
const CONVERT_LAB = `
import sys
from PIL import Image, ImageCms
lab = ImageCms.createProfile("LAB", 5000)
transform = ImageCms.buildTransform(lab, ImageCms.createProfile("sRGB"), "LAB", "RGB")
picture = Image.new("LAB", (1, 1))
picture.putpixel((0, 0), tuple(map(int, sys.argv[1:4])))
ImageCms.applyTransform(picture, transform).convert("RGBA").save(sys.stdout.buffer, "PNG")
`;

const { below } = createRandom(5);

/** Slopes and noise; alpha rises from the left to the right. */
function picture(width: number, height: number, channels: 3 | 4): Buffer {
  const pixels = Buffer.alloc(width * height * channels);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const colour = [(x * 255) / width, (y * 255) / height, y % 4 < 2 ? 60 : below(256)];
    pixels.set(colour, pixel * channels);
    if (channels === 4) pixels[pixel * channels + 3] = Math.min(255, Math.round((x * 300) / width));
  }
  return pixels;
}

describe.each([
  [1, 1],
  [97, 61],
  [129, 40],
  [3000, 1],
  [320, 240],
])("a PSD of %i by %i", (width, height) => {
  test.each([3, 4] as const)("of %i channels that we write is read by others as it was", async (channels) => {
    const pixels = picture(width, height, channels);
    const bytes = writePsd(pixels, { width, height, channels });
    const raw = { width, height, channels } as const;
    const data = await sharp(pixels, { raw }).ensureAlpha().raw().toBuffer();
    // What is lost by merging with white in 8 bits, of colours that are hardly seen.
    const tolerance = channels === 4 ? 0.5 : 0;
    expect(meanDifference({ width, height, data }, await readWithImageMagick(bytes))).toBeLessThanOrEqual(
      tolerance,
    );
    expect(
      meanDifference({ width, height, data }, await readWithPsdTools(bytes, "merged")),
    ).toBeLessThanOrEqual(tolerance);
    if (channels === 4) expect(await readWithPsdTools(bytes, "layer")).toEqual({ width, height, data });
  });
});

const WIDTH = 64;
const HEIGHT = 48;

/** Slopes in different directions, one in each channel, from `low` to `high`. */
function slopes(channels: number, low: number, high: number): number[][] {
  return Array.from({ length: channels }, (_, channel) =>
    Array.from({ length: WIDTH * HEIGHT }, (_, pixel) => {
      const [x, y] = [pixel % WIDTH, Math.floor(pixel / WIDTH)];
      const shares = [x / WIDTH, y / HEIGHT, (x + y) / (WIDTH + HEIGHT), 1 - (x * y) / (WIDTH * HEIGHT)];
      return Math.round(low + (shares[channel % 4] ?? 0) * (high - low));
    }),
  );
}

test.each([
  "multiply",
  "screen",
  "overlay",
  "hard light",
  "color burn",
  "linear dodge",
  "linear light",
  "difference",
  "subtract",
] as const)("layers blended by %s are read as psd-tools reads them", async (blendMode) => {
  const mask = { left: 4, top: 4, defaultColor: 0, imageData: plain(40, 30, [180, 180, 180, 255]) };
  const slope = new Uint8ClampedArray(slopesOf(WIDTH, HEIGHT));
  const bytes = layeredPsd({ width: WIDTH, height: HEIGHT }, [
    layer([0, 0, WIDTH, HEIGHT], [200, 180, 160, 255]),
    { imageData: { width: WIDTH, height: HEIGHT, data: slope }, blendMode },
    { children: [layer([10, 5, 40, 40], [20, 90, 200, 200])], opacity: 0.6, blendMode: "normal", mask },
    layer([-5, 20, 40, 40], [250, 20, 30, 128], { blendMode }),
    layer([0, 0, 64, 10], [0, 0, 0, 255], { hidden: true }),
  ]);
  expect(meanDifference(await readWithOurs(bytes), await readWithPsdTools(bytes, "layers"))).toBeLessThan(1);
});

/** RGBA that is half opaque. */
function slopesOf(width: number, height: number): number[] {
  const [red = [], green = [], blue = []] = slopes(3, 0, 255);
  return Array.from({ length: width * height }, (_, index) => [
    red[index] ?? 0,
    green[index] ?? 0,
    blue[index] ?? 0,
    140,
  ]).flat();
}

// ImageMagick takes Lab to be under D65, Photoshop under D50.
test.each([
  [153, 148, 98],
  [128, 100, 150],
  [200, 140, 128],
  [90, 150, 140],
  [30, 128, 128],
])("Lab %i, %i, %i is the colour that littlecms makes of it", async (...stored) => {
  const bytes = samplePsd({ width: 1, height: 1, mode: "lab", channels: stored.map((sample) => [sample]) });
  const converted = await readPng(
    programs.psdPython,
    ["-c", CONVERT_LAB, ...stored.map(String)],
    Buffer.alloc(0),
  );
  expect(meanDifference(await readWithOurs(bytes), converted)).toBeLessThanOrEqual(1);
});
