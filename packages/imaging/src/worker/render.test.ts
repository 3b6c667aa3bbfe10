import type { OriginalType, RenditionSpec } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { svg } from "../../test/hostile-svgs.ts";
import { animation, CORNERS, cornered, cornersOf, distance, photo, type Rgb } from "../../test/pictures.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
const small = createRenderer({ maxOutputPixels: 6000, workers: 1 });
const formats = ["png", "jpg", "gif", "webp", "avif"] as const;
const raw = { width: 60, height: 40, channels: 3 } as const;
let picture: Buffer;

beforeAll(async () => {
  picture = await photo(600, 400);
});
afterAll(() => Promise.all([renderer.close(), small.close()]));

async function rendered(
  bytes: Buffer,
  type: OriginalType,
  spec: RenditionSpec,
  by = renderer,
): Promise<Buffer> {
  return (await by.render({ bytes }, type, spec)).bytes;
}

/** Width and height of one frame. */
async function sizeOf(bytes: Buffer): Promise<[number, number]> {
  const { width, height, pageHeight } = await sharp(bytes, { animated: true }).metadata();
  return [width, pageHeight ?? height];
}

test("a rendition of many megabytes arrives complete", async () => {
  const noise = { type: "gaussian", mean: 128, sigma: 40 } as const;
  const original = sharp({ create: { width: 1600, height: 1200, channels: 3, background: "#888", noise } });
  const bytes = await original.png({ compressionLevel: 1 }).toBuffer();
  const out = await rendered(bytes, "image/png", { format: "png", maxWidth: 1500 });
  expect(out.length).toBeGreaterThan(3 * 1024 ** 2);
  expect(out.equals(await sharp(bytes).resize(1500, 1125, { fit: "fill" }).png().toBuffer())).toBe(true);
});

describe("a rendered orientation", () => {
  /** The pixels as a camera stores them for `orientation` (EXIF 2.32, tag 274). */
  function stored(orientation: number): { pixels: Buffer; width: number; height: number } {
    const upright = cornered(60, 40);
    const [width, height] = orientation < 5 ? [60, 40] : [40, 60];
    const pixels = Buffer.alloc(60 * 40 * 3);
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        const x =
          [column, 59 - column, 59 - column, column, row, 59 - row, 59 - row, row][orientation - 1] ?? 0;
        const y =
          [row, row, 39 - row, 39 - row, column, column, 39 - column, 39 - column][orientation - 1] ?? 0;
        upright.copy(pixels, (row * width + column) * 3, (y * 60 + x) * 3, (y * 60 + x) * 3 + 3);
      }
    }
    return { pixels, width, height };
  }

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "a picture stored with orientation %i comes upright",
    async (orientation) => {
      const { pixels, width, height } = stored(orientation);
      const turned = sharp(pixels, { raw: { width, height, channels: 3 } }).withMetadata({ orientation });
      const jpeg = await turned.clone().jpeg({ quality: 95 }).toBuffer();
      const png = await turned.clone().png().toBuffer();
      for (const [bytes, type] of [
        [jpeg, "image/jpeg"],
        [png, "image/png"],
      ] as const) {
        for (const box of [{}, { maxWidth: 30 }]) {
          const out = await rendered(bytes, type, { format: "png", ...box });
          expect(await sizeOf(out)).toEqual("maxWidth" in box ? [30, 20] : [60, 40]);
          expect(distance(await cornersOf(out), CORNERS)).toBeLessThan(25);
          expect((await sharp(out).metadata()).orientation).toBeUndefined();
        }
      }
    },
  );
});

describe("the colour of a rendition:", () => {
  test("transparency becomes white in JPEG and stays in other formats", async () => {
    const half = { r: 255, g: 0, b: 0, alpha: 0.5 };
    const bytes = await sharp({ create: { width: 40, height: 40, channels: 4, background: half } })
      .png()
      .toBuffer();
    const jpg = await rendered(bytes, "image/png", { format: "jpg", quality: "max" });
    expect(distance(await cornersOf(jpg), new Array(4).fill([255, 127, 127]))).toBeLessThan(6);
    for (const format of ["png", "webp", "avif"] as const) {
      const stats = await sharp(await rendered(bytes, "image/png", { format })).stats();
      expect(stats.channels[3]?.mean, format).toBeCloseTo(128, -1);
    }
  });

  test("an SVG without background is white in JPEG", async () => {
    const bytes = Buffer.from(svg(40, ""));
    const jpg = await rendered(bytes, "image/svg+xml", { format: "jpg" });
    expect(distance(await cornersOf(jpg), new Array(4).fill([255, 255, 255]))).toBeLessThan(3);
  });

  test.each(formats)("CMYK, wide gamut and 16 bits become 8-bit sRGB in %s", async (format) => {
    // Colours within the gamut of CMYK.
    const printable: Rgb[] = [
      [180, 120, 100],
      [120, 150, 110],
      [110, 120, 160],
      [200, 190, 150],
    ];
    const inks = await sharp(cornered(60, 40, printable), { raw })
      .toColourspace("cmyk")
      .jpeg({ quality: 95 })
      .toBuffer();
    const base = sharp(cornered(60, 40), { raw });
    const wide = await base.clone().withIccProfile("p3").png().toBuffer();
    const deep = await base.clone().toColourspace("rgb16").png().toBuffer();
    expect((await sharp(inks).metadata()).space).toBe("cmyk");
    expect((await sharp(wide).metadata()).hasProfile).toBe(true);
    expect((await sharp(deep).metadata()).depth).toBe("ushort");
    const unconverted = await sharp(wide, { ignoreIcc: true }).png().toBuffer();
    expect(distance(await cornersOf(unconverted), CORNERS)).toBeGreaterThan(20);
    for (const [bytes, type, expected] of [
      [inks, "image/jpeg", printable],
      [wide, "image/png", CORNERS],
      [deep, "image/png", CORNERS],
    ] as const) {
      const out = await rendered(bytes, type, { format, quality: "max" });
      expect(await sharp(out).metadata()).toMatchObject({ space: "srgb", depth: "uchar", hasProfile: false });
      expect(distance(await cornersOf(out), expected)).toBeLessThan(15);
    }
  });
});

test.each(formats)("a rendition as %s has no metadata of the original", async (format) => {
  const bytes = await sharp(cornered(60, 40), { raw })
    .withExif({ IFD0: { Artist: "personal" }, IFD3: { GPSLatitudeRef: "N", GPSLatitude: "51/1 30/1 0/1" } })
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>somewhere</a></x:xmpmeta>')
    .jpeg()
    .toBuffer();
  expect(bytes.includes("personal") && bytes.includes("somewhere")).toBe(true);
  const out = await rendered(bytes, "image/jpeg", { format });
  const metadata = await sharp(out).metadata();
  expect(metadata.exif).toBeUndefined();
  expect(metadata.xmp).toBeUndefined();
  expect(metadata.iptc).toBeUndefined();
  expect(out.includes("personal") || out.includes("somewhere")).toBe(false);
});

describe("JPEG quality", () => {
  test("grows in bytes with each level, and is high by default", async () => {
    const lengths: number[] = [];
    for (const quality of ["low", "medium", "high", "max"] as const) {
      lengths.push((await rendered(picture, "image/png", { format: "jpg", quality })).length);
    }
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
    expect(new Set(lengths).size).toBe(4);
    expect((await rendered(picture, "image/png", { format: "jpg" })).length).toBe(lengths[2]);
  });

  test("halves the colour resolution except at high levels", async () => {
    const jpeg = await sharp(picture).jpeg().toBuffer();
    const subsampling = async (
      bytes: Buffer,
      type: OriginalType,
      quality: "low" | "medium" | "high" | "max",
    ) => {
      const out = await rendered(bytes, type, { format: "jpg", quality, maxWidth: 100 });
      return (await sharp(out).metadata()).chromaSubsampling;
    };
    expect(await subsampling(picture, "image/png", "low")).toBe("4:2:0");
    expect(await subsampling(picture, "image/png", "medium")).toBe("4:2:0");
    expect(await subsampling(picture, "image/png", "high")).toBe("4:4:4");
    expect(await subsampling(jpeg, "image/jpeg", "high")).toBe("4:2:0");
    expect(await subsampling(jpeg, "image/jpeg", "max")).toBe("4:4:4");
  });
});

describe("an SVG original", () => {
  const line = Buffer.from(svg(10, '<rect x="5" width="5" height="10"/>'));

  test("is drawn sharp at the size of the box", async () => {
    const out = await rendered(line, "image/svg+xml", { format: "png", maxWidth: 800, maxHeight: 600 });
    const { data, info } = await sharp(out).raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([600, 600]);
    const alphas = new Set<number>();
    for (let x = 0; x < 600; x++) alphas.add(data[(300 * 600 + x) * info.channels + 3] ?? -1);
    expect([...alphas]).toEqual([0, 255]);
  });

  test("has its own size without a box", async () => {
    expect(await sizeOf(await rendered(line, "image/svg+xml", { format: "png" }))).toEqual([10, 10]);
  });

  test("of enormous size is drawn at the requested size", async () => {
    const bytes = Buffer.from(svg(20_000, '<rect x="10000" width="10000" height="20000"/>'));
    const out = await rendered(bytes, "image/svg+xml", { format: "png", maxWidth: 200 });
    expect(await sizeOf(out)).toEqual([200, 200]);
  });

  test("of extreme aspect ratio is at least one pixel high", async () => {
    const bytes = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="30000" height="1"/>');
    expect(await sizeOf(await rendered(bytes, "image/svg+xml", { format: "png", maxWidth: 200 }))).toEqual([
      200, 1,
    ]);
  });

  test("shows text", async () => {
    const content = '<rect width="100" height="100" fill="#fff"/><text y="60" font-size="40">Wow</text>';
    const { channels } = await sharp(
      await rendered(Buffer.from(svg(100, content)), "image/svg+xml", { format: "png" }),
    ).stats();
    expect(channels[0]?.min).toBeLessThan(60);
  });
});

describe("limits of a rendition scale it down", () => {
  test.each([
    ["png", "image/png", 94, 63],
    ["gif", "image/png", 37, 25],
    ["webp", "image/png", 75, 50],
    ["avif", "image/png", 46, 30],
  ] as const)("%s of a raster", async (format, type, width, height) => {
    expect(await sizeOf(await rendered(picture, type, { format }, small))).toEqual([width, height]);
  });

  test("the longer side of a strip, and of an SVG in a larger box", async () => {
    const strip = await sharp(picture).resize(9000, 6, { fit: "fill" }).png().toBuffer();
    expect(await sizeOf(await rendered(strip, "image/png", { format: "png" }))).toEqual([8192, 5]);
    const bytes = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="100" height="1"/>');
    const spec: RenditionSpec = { format: "png", maxWidth: 9000 };
    expect(await sizeOf(await rendered(bytes, "image/svg+xml", spec))).toEqual([8192, 82]);
  });

  test.each(["gif", "webp"] as const)("all frames of an animated %s together", async (format) => {
    const colours: Rgb[] = Array.from({ length: 10 }, (_, index) => [20 * index, 0, 0]);
    const original = await animation(60, 40, colours, { delay: colours.map(() => 100), loop: 0 });
    const out = await rendered(original, "image/gif", { format }, small);
    const { width, pageHeight, pages } = await sharp(out, { animated: true }).metadata();
    expect({ width, pageHeight, pages }).toEqual({ width: 18, pageHeight: 12, pages: 10 });
    // For its first frame alone the limit of a still applies.
    expect(await sizeOf(await rendered(original, "image/gif", { format: "png" }, small))).toEqual([60, 40]);
  });
});
