import type { RenditionSpec } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DrawnFrame, gifOf } from "../../../../test/support/raster-files.ts";
import { animation, CORNERS, cornered, cornersOf, distance, type Rgb } from "../../test/pictures.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
afterAll(() => renderer.close());

const CLEAR = 2;

/** RGBA of a pixel in each frame of a rendition. */
async function pixelsAt(bytes: Buffer, x: number, y: number): Promise<number[][]> {
  const { pages = 1, pageHeight = 0 } = await sharp(bytes, { animated: true }).metadata();
  const { data, info } = await sharp(bytes, { animated: true })
    .ensureAlpha()
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  return Array.from({ length: pages }, (_, page) => {
    const offset = ((page * pageHeight + y) * info.width + x) * 4;
    return [...data.subarray(offset, offset + 4)];
  });
}

const [red, green, blue] = [
  [255, 0, 0, 255],
  [0, 255, 0, 255],
  [0, 0, 255, 255],
];

describe("a GIF's canvas", () => {
  const inset: DrawnFrame = { left: 5, top: 5, width: 10, height: 10, pixels: 2 };

  test.each(["png", "webp", "gif", "avif"] as const)(
    "is transparent in %s where the first frame does not draw",
    async (format) => {
      const { bytes } = await renderer.render({ bytes: gifOf(20, 20, [inset]) }, "image/gif", { format });
      expect((await pixelsAt(bytes, 1, 1))[0]?.[3]).toBe(0);
      expect((await pixelsAt(bytes, 10, 10))[0]?.[3]).toBe(255);
    },
  );

  test("is white in JPEG where no frame draws", async () => {
    const source = { bytes: gifOf(20, 20, [inset]) };
    const { bytes: jpeg } = await renderer.render(source, "image/gif", { format: "jpg" });
    for (const level of (await pixelsAt(jpeg, 1, 1))[0] ?? []) expect(level).toBeGreaterThan(250);
  });

  test("stays transparent in every frame of an animation until a frame draws there", async () => {
    const frames = [inset, { ...inset, pixels: 1 }, { width: 4, height: 4, pixels: 0 }];
    const { bytes } = await renderer.render({ bytes: gifOf(20, 20, frames) }, "image/gif", {
      format: "webp",
    });
    expect((await pixelsAt(bytes, 17, 17)).map((pixel) => pixel[3])).toEqual([0, 0, 0]);
    expect((await pixelsAt(bytes, 2, 2)).map((pixel) => pixel[3])).toEqual([0, 0, 255]);
  });

  test("is opaque, with three channels, where the first frame covers it", async () => {
    const bytes = gifOf(20, 20, [{ width: 20, height: 20, pixels: 2 }, inset]);
    for (const format of ["png", "webp"] as const) {
      const rendition = await renderer.render({ bytes }, "image/gif", { format });
      expect((await sharp(rendition.bytes).metadata()).channels).toBe(3);
    }
  });

  test("is transparent after a frame that restores the background", async () => {
    const frames = [
      { width: 20, height: 20, pixels: 0 },
      { ...inset, disposal: CLEAR },
      { width: 3, height: 3, pixels: 1 },
      { width: 3, height: 3, pixels: 2 },
    ];
    for (const format of ["webp", "gif"] as const) {
      const { bytes } = await renderer.render({ bytes: gifOf(20, 20, frames) }, "image/gif", {
        format,
      });
      const clear = [0, 0, 0, 0];
      const inset = await pixelsAt(bytes, 10, 10);
      expect(inset.map((pixel) => pixel[3])).toEqual([255, 255, 0, 0]);
      if (format === "webp") continue; // Lossy.
      expect(inset).toEqual([red, blue, clear, clear]);
      expect(await pixelsAt(bytes, 18, 18)).toEqual([red, red, red, red]);
      expect(await pixelsAt(bytes, 1, 1)).toEqual([red, red, green, blue]);
    }
  });

  test("is transparent after a cleared frame that uses all 256 colours, which gives up one of two like colours", async () => {
    const colours = Buffer.from(Array.from({ length: 768 }, (_, at) => (at % 3 === 0 ? at / 3 : 0)));
    const pixels = Array.from({ length: 256 }, (_, at) => at);
    const frames = [
      { width: 16, height: 16, pixels, colours, disposal: CLEAR },
      { width: 4, height: 4, pixels: 1 },
    ];
    const { bytes } = await renderer.render({ bytes: gifOf(16, 16, frames) }, "image/gif", {
      format: "webp",
    });
    const all = await sharp(bytes, { animated: true }).ensureAlpha().raw().toBuffer();
    for (let at = 0; at < 256; at++) expect(all[4 * at + 3], `pixel ${at}`).toBe(255);
    expect((await pixelsAt(bytes, 12, 12)).map((pixel) => pixel[3])).toEqual([255, 0]);
  });
});

async function rendered(bytes: Buffer, spec: RenditionSpec): Promise<Buffer> {
  return (await renderer.render({ bytes }, "image/gif", spec)).bytes;
}

describe("an animation", () => {
  const [RED, GREEN, BLUE, YELLOW] = CORNERS as [Rgb, Rgb, Rgb, Rgb];
  const colours = [RED, GREEN, GREEN, BLUE, YELLOW];
  const timing = { delay: [50, 100, 200, 300, 1000], loop: 3 };
  /** The frames of a rendition: libwebp joins equal neighbours to one frame of their time together. */
  const framesIn = (format: "gif" | "webp") =>
    format === "gif"
      ? { colours, delay: timing.delay }
      : { colours: colours.filter((_, index) => index !== 2), delay: [50, 300, 300, 1000] };
  let original: Buffer;
  beforeAll(async () => {
    original = await animation(60, 40, colours, timing);
  });

  test.each(["gif", "webp"] as const)(
    "keeps frames, their times and the loop count in %s",
    async (format) => {
      const out = await rendered(original, { format, maxWidth: 30 });
      const metadata = await sharp(out, { animated: true }).metadata();
      const { colours, delay } = framesIn(format);
      const { loop } = timing;
      expect(metadata).toMatchObject({ width: 30, pageHeight: 20, pages: colours.length, delay, loop });
      for (const [page, colour] of colours.entries()) {
        const frame = await sharp(out, { page }).png().toBuffer();
        expect(distance(await cornersOf(frame), [colour, colour, colour, colour]), `${page}`).toBeLessThan(
          12,
        );
      }
    },
  );

  test.each<[format: "gif" | "webp", name: string, spec: Partial<RenditionSpec>]>([
    ["gif", "resize", { maxWidth: 17 }],
    ["webp", "resize", { maxWidth: 17 }],
    ["gif", "cut", { maxWidth: 13, maxHeight: 13, fit: "cover" }],
    ["webp", "cut", { maxWidth: 13, maxHeight: 13, fit: "cover" }],
  ])("as %s keeps each frame apart from its neighbours after a %s", async (format, _name, spec) => {
    const out = await rendered(original, { format, ...spec });
    for (const [page, colour] of framesIn(format).colours.entries()) {
      const { data, info } = await sharp(out, { page })
        .removeAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true });
      for (const y of [0, info.height - 1]) {
        const edge = [...data.subarray(y * info.width * 3, y * info.width * 3 + 3)] as Rgb;
        expect(distance([edge], [colour]), `frame ${page}, row ${y}`).toBeLessThan(12);
      }
    }
  });

  test.each(["png", "jpg", "avif"] as const)("becomes its first frame in %s", async (format) => {
    const out = await rendered(original, { format });
    expect((await sharp(out).metadata()).pages ?? 1).toBe(1);
    expect(await sharp(out).metadata()).toMatchObject({ width: 60, height: 40 });
    expect(distance(await cornersOf(out), [RED, RED, RED, RED])).toBeLessThan(12);
  });

  test.each([
    ["gif", 65_535, 0],
    ["webp", 65_535, 0],
    ["gif", 65_534, 65_535],
    ["webp", 65_534, 65_535],
  ] as const)(
    "as %s, repeated %i times, plays %i times (0: for ever) with frames of up to 65.5 s",
    async (format, repeats, loop) => {
      const original = await animation(60, 40, CORNERS.slice(0, 2), { delay: [100, 10], loop: 5 });
      original.writeUInt16LE(repeats, original.indexOf("NETSCAPE2.0") + 13);
      original.writeUInt16LE(65_535, original.indexOf(Buffer.of(0x21, 0xf9, 4)) + 4);
      const out = await rendered(original, { format, maxWidth: 30 });
      const metadata = await sharp(out, { animated: true }).metadata();
      expect(metadata.loop).toBe(loop);
      expect(Math.abs((metadata.delay?.[0] ?? 0) - 65_535)).toBeLessThan(10);
    },
  );

  test("of one frame has one frame as GIF", async () => {
    const still = await sharp(cornered(60, 40), { raw: { width: 60, height: 40, channels: 3 } })
      .gif()
      .toBuffer();
    const out = await rendered(still, { format: "gif", maxWidth: 30 });
    expect((await sharp(out, { animated: true }).metadata()).pages ?? 1).toBe(1);
    expect(distance(await cornersOf(out), CORNERS)).toBeLessThan(12);
  });
});
