import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OriginalType, RenditionSpec } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programs, run } from "./support/programs.ts";

/** As docs/formats.md states it: the most by which the SSIM of a picture may lie below the required one. */
const TOLERANCE = 0.002;
const FORMATS = ["jpg", "webp", "avif"] as const;

/** Prints the SSIM of each pair of PNGs that standard input names, with scikit-image, on which Debian's psd-tools depends. */
const COMPARE_ALL = `
import sys
from skimage import io
from skimage.metrics import structural_similarity
def luma(path):
    picture = io.imread(path).astype(float)
    return 0.299 * picture[..., 0] + 0.587 * picture[..., 1] + 0.114 * picture[..., 2]
for line in sys.stdin.read().splitlines():
    one, other = map(luma, line.split("\\t"))
    print(structural_similarity(one, other, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False))
`;

/** Pictures of scikit-image: photographs, textures, a microscope's view, and one with transparency. */
const SAMPLES = [
  ...["astronaut.png", "brick.png", "camera.png", "chelsea.png", "coffee.png", "coins.png", "grass.png"],
  ...["gravel.png", "hubble_deep_field.jpg", "ihc.png", "logo.png", "moon.png", "motorcycle_left.png"],
  ...["page.png", "retina.jpg", "rocket.jpg"],
];
const BOXES = [{}, { maxWidth: 300 }];
const DIRECTORY = "/usr/lib/python3/dist-packages/skimage/data/";

const renderer = createRenderer();
let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-auto-quality-"));
});
afterAll(async () => {
  await renderer.close();
  await rm(directory, { recursive: true, force: true });
});

/** A page with text in some of its parts: tiles of it differ most. */
function pageOfText(): Buffer {
  const lines = Array.from({ length: 48 }, (_, line) => {
    const left = line < 20 ? 80 : 620;
    return `<text x="${left}" y="${90 + line * 30}">Line ${line}: the quick brown fox jumps over ${line * 7} dogs</text>`;
  });
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="1700" font-size="18" font-family="sans-serif">
      <rect width="1200" height="1700" fill="#fff"/>${lines.join("")}</svg>`,
  );
}

/** The picture on white as a PNG file. */
async function written(name: string, bytes: Buffer): Promise<string> {
  const path = join(directory, `${name}.png`);
  const plain = sharp(bytes).flatten({ background: "#fff" }).toColourspace("srgb");
  await writeFile(path, await plain.png({ compressionLevel: 1 }).toBuffer());
  return path;
}

async function similarities(pairs: readonly (readonly [string, string])[]): Promise<number[]> {
  const input = pairs.map((pair) => pair.join("\t")).join("\n");
  const { status, stdout, stderr } = await run(programs.psdPython, ["-W", "ignore", "-c", COMPARE_ALL], {
    input,
  });
  if (status !== 0) throw new Error(`scikit-image ended with ${status}: ${stderr}`);
  return stdout.toString().trim().split("\n").map(Number);
}

async function readOriginals(): Promise<{ name: string; bytes: Buffer; type: OriginalType }[]> {
  const pictures = await Promise.all(
    SAMPLES.map(async (name) => {
      const type = name.endsWith(".jpg") ? "image/jpeg" : "image/png";
      return { name, bytes: await readFile(DIRECTORY + name), type } as const;
    }),
  );
  return [...pictures, { name: "page of text", bytes: pageOfText(), type: "image/svg+xml" }];
}

test.each(FORMATS)(
  "convert=auto as %s has no more bytes than high, and scikit-image finds it as similar as required",
  async (format) => {
    const pairs: [string, string][] = [];
    const lengths: { name: string; auto: number; high: number }[] = [];
    const originals = await readOriginals();
    for (const [{ name, bytes, type }, box] of originals.flatMap((each) =>
      BOXES.map((box) => [each, box] as const),
    )) {
      const render = async (spec: Pick<RenditionSpec, "format" | "quality">) =>
        (await renderer.render({ bytes }, type, { ...spec, ...box })).bytes;
      const [lossless, auto, high] = await Promise.all([
        render({ format: "png" }),
        render({ format, quality: "auto" }),
        render({ format, quality: "high" }),
      ]);
      const expected = await written(`${lengths.length}-lossless`, lossless);
      pairs.push(
        [await written(`${lengths.length}-auto`, auto), expected],
        [await written(`${lengths.length}-high`, high), expected],
      );
      lengths.push({ name, auto: auto.length, high: high.length });
    }
    const found = await similarities(pairs);
    expect(found).toHaveLength(pairs.length);
    const outcomes = lengths.map((each, index) => {
      const [auto = 0, high = 0] = found.slice(2 * index, 2 * index + 2);
      return { ...each, ssim: auto, required: Math.min(0.98, high) };
    });
    expect(outcomes.filter(({ auto, high }) => auto > high)).toEqual([]);
    expect(outcomes.filter(({ ssim, required }) => ssim < required - TOLERANCE)).toEqual([]);
    // Otherwise `high` itself would pass.
    expect(outcomes.filter(({ auto, high }) => auto < 0.9 * high).length).toBeGreaterThanOrEqual(3);
  },
  300_000,
);
