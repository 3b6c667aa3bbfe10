import type { OriginalType, RenditionSpec } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp, { type Sharp } from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { animation, type Rgb } from "../../../test/pictures.ts";
import { similarity } from "../../../test/similarity.ts";
import { unreadable } from "../../../test/unreadable.ts";

const FORMATS = ["jpg", "webp", "avif"] as const;

const renderer = createRenderer();
afterAll(() => renderer.close());

async function rendered(bytes: Buffer, type: OriginalType, spec: RenditionSpec): Promise<Buffer> {
  return (await renderer.render({ bytes }, type, spec)).bytes;
}

/** A picture of smooth shapes with edges, which every format shows well in a low quality. */
function smooth(
  width: number,
  height: number,
  background = '<rect width="100%" height="100%" fill="#357"/>',
): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><radialGradient id="g">
      <stop stop-color="#fc6"/><stop offset="1" stop-color="#135"/></radialGradient>${background}
      <circle cx="50%" cy="50%" r="40%" fill="url(#g)"/><path d="M0 0L${width} ${height / 2}" stroke="#fff"/></svg>`,
  );
}

describe.each(FORMATS)("the quality auto as %s", (format) => {
  test.each([
    ["a small picture, which is its own sample", 300, 200],
    ["a larger picture", 900, 700],
    ["a strip", 3000, 60],
  ])("makes %s smaller and keeps its look", async (_, width, height) => {
    const bytes = smooth(width, height);
    const [lossless, high, auto] = await Promise.all([
      rendered(bytes, "image/svg+xml", { format: "png" }),
      rendered(bytes, "image/svg+xml", { format, quality: "high" }),
      rendered(bytes, "image/svg+xml", { format, quality: "auto" }),
    ]);
    expect(auto.length).toBeLessThan(high.length);
    expect(await sharp(auto).metadata()).toMatchObject({ width, height });
    expect(await similarity(auto, lossless)).toBeGreaterThan(0.97);
  });

  test.each([
    ["fine grain, as a sample", (noise: Sharp) => noise.png(), "image/png", 900],
    [
      "fine grain, whole",
      (noise: Sharp) => noise.extract({ left: 0, top: 0, width: 200, height: 200 }).png(),
      "image/png",
      900,
    ],
    ["a grey picture", (noise: Sharp) => noise.greyscale().png(), "image/png", 900],
    ["16 bits", (noise: Sharp) => noise.toColourspace("rgb16").png(), "image/png", 900],
    ["a JPEG with half the colours", (noise: Sharp) => noise.jpeg({ quality: 100 }), "image/jpeg", 900],
    ["pictures of 9 pixels", (noise: Sharp) => noise.png(), "image/png", 9],
    ["a line of 9 pixels", (noise: Sharp) => noise.resize(900, 9, { fit: "fill" }).png(), "image/png", 900],
  ] as const)("gives the bytes of high where nothing can be saved: %s", async (_, save, type, maxWidth) => {
    const noise = { type: "gaussian", mean: 128, sigma: 3 } as const;
    const original = sharp({ create: { width: 900, height: 300, channels: 3, background: "#888", noise } });
    const bytes = await save(original).toBuffer();
    const high = await rendered(bytes, type, { format, quality: "high", maxWidth });
    expect((await rendered(bytes, type, { format, quality: "auto", maxWidth })).equals(high)).toBe(true);
  });

  test("shows the background below transparent parts, or keeps them", async () => {
    const bytes = smooth(200, 200, "");
    const corner = async (spec: Partial<RenditionSpec>) => {
      const out = await rendered(bytes, "image/svg+xml", { format, quality: "auto", ...spec });
      return [...(await sharp(out).ensureAlpha().raw().toBuffer()).subarray(-4)];
    };
    const [, , , alpha = -1] = await corner({});
    expect(alpha < 3).toBe(format !== "jpg");
    const [red = -1, green = -1, blue = -1, opaque] = await corner({ background: "20c040" });
    expect(opaque).toBe(255);
    expect(Math.max(Math.abs(red - 0x20), Math.abs(green - 0xc0), Math.abs(blue - 0x40))).toBeLessThan(9);
  });
});

test("an animation keeps frames, delays and loop count as WebP of the quality auto, also when it is cut", async () => {
  const colours: Rgb[] = [
    [220, 20, 20],
    [20, 200, 20],
    [20, 20, 220],
  ];
  const timing = { delay: [50, 200, 1000], loop: 3 };
  const original = await animation(120, 80, colours, timing);
  const cut = { fit: "cover", maxWidth: 40, maxHeight: 40 } as const;
  for (const [box, side] of [
    [{ maxWidth: 60 }, 40],
    [cut, 40],
  ] as const) {
    const spec = { format: "webp", quality: "auto", ...box } as const;
    const out = await rendered(original, "image/gif", spec);
    const metadata = await sharp(out, { animated: true }).metadata();
    expect(metadata).toMatchObject({ pageHeight: side, pages: 3, ...timing });
    const high = await rendered(original, "image/gif", { ...spec, quality: "high" });
    expect(out.length).toBeLessThanOrEqual(high.length);
  }
});

test("the quality auto gives the same bytes from an intermediate and from the original", async () => {
  const bytes = await sharp(smooth(2000, 1400)).removeAlpha().png({ compressionLevel: 0 }).toBuffer();
  const spec = { format: "webp", quality: "auto", maxWidth: 300 } as const;
  const first = await renderer.render({ bytes }, "image/png", spec);
  const { intermediate } = first;
  expect(intermediate).toBeDefined();
  const options = { fromIntermediate: true };
  const again = await renderer.render({ bytes: intermediate ?? Buffer.alloc(0) }, "image/png", spec, options);
  expect(again.bytes.equals(first.bytes)).toBe(true);
});

test("workers still refuse WebP and AVIF as originals after a search", async () => {
  const one = createRenderer({ workers: 1 });
  try {
    for (const format of ["webp", "avif"] as const) {
      await one.render({ bytes: smooth(100, 100) }, "image/svg+xml", { format, quality: "auto" });
      const foreign = await sharp(smooth(20, 20)).toFormat(format).toBuffer();
      await expect(one.render({ bytes: foreign }, "image/png", { format: "png" })).rejects.toThrow(
        unreadable("image/png", "damaged: its header cannot be read"),
      );
    }
  } finally {
    await one.close();
  }
});
