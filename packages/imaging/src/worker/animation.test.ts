import type { RenditionSpec } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { animation, CORNERS, cornered, cornersOf, distance, type Rgb } from "../../test/pictures.ts";

const renderer = createRenderer();
afterAll(() => renderer.close());

async function rendered(bytes: Buffer, spec: RenditionSpec): Promise<Buffer> {
  return (await renderer.render({ bytes }, "image/gif", spec)).bytes;
}

describe("an animation", () => {
  const colours: Rgb[] = [CORNERS[0], CORNERS[1], CORNERS[1], CORNERS[2], CORNERS[3]].map(
    (c) => c ?? [0, 0, 0],
  );
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
    const [first = [0, 0, 0]] = colours;
    expect(distance(await cornersOf(out), [first, first, first, first])).toBeLessThan(12);
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
