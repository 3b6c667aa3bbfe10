import { deflateSync } from "node:zlib";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { animatedPng, pngChunk, pngOf, uint32s } from "../../../../../test/support/raster-files.ts";
import { exifBlock } from "../../../test/exif-blocks.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
afterAll(() => renderer.close());

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

/** The pixels of a PNG rendition, without alpha. */
async function levelsOf(bytes: Buffer): Promise<Buffer> {
  const rendition = await renderer.render({ bytes }, "image/png", { format: "png" });
  return sharp(rendition.bytes).toColourspace("srgb").removeAlpha().raw().toBuffer();
}

describe("an animated PNG whose own picture is not a frame", () => {
  /** Frames of one grey level each, at a place of a canvas of 40 × 40; the picture itself is a gradient. */
  function apart(
    frames: { level: number; size: number; left: number; top: number }[],
    chunks: Buffer[] = [],
  ): Buffer {
    let sequence = 0;
    return pngOf({
      size: 40,
      chunks: [pngChunk("acTL", uint32s(frames.length, 0)), ...chunks],
      data: (compressed) => [
        pngChunk("IDAT", compressed),
        ...frames.flatMap(({ level, size, left, top }) => {
          const rows = Array.from({ length: size }, () =>
            Buffer.concat([Buffer.of(0), Buffer.alloc(3 * size, level)]),
          );
          const place = uint32s(sequence++, size, size, left, top);
          const data = deflateSync(Buffer.concat(rows));
          const halves = [data.subarray(0, 9), data.subarray(9)];
          return [
            pngChunk("fcTL", Buffer.concat([place, Buffer.from("0001000a0000", "hex")])),
            ...halves.map((half) => pngChunk("fdAT", Buffer.concat([uint32s(sequence++), half]))),
          ];
        }),
      ],
    });
  }
  const whole = { level: 200, size: 40, left: 0, top: 0 };
  const part = { level: 90, size: 10, left: 20, top: 5 };

  test.each(["png", "webp", "gif", "avif", "jpg", "psd", "pdf", "svg"] as const)(
    "becomes its first frame in %s",
    async (format) => {
      const still = await sharp({ create: { width: 40, height: 40, channels: 3, background: "#c8c8c8" } })
        .png()
        .toBuffer();
      const looks = async (bytes: Buffer) => {
        const { bytes: rendition } = await renderer.render({ bytes }, "image/png", { format });
        const isDocument = format === "psd" || format === "pdf";
        const type = format === "psd" ? "image/x-photoshop" : "application/pdf";
        const shown = isDocument
          ? (await renderer.render({ bytes: rendition }, type, { format: "png", maxWidth: 40 })).bytes
          : rendition;
        return sharp(shown)
          .resize(40, 40)
          .flatten({ background: "#fff" })
          .toColourspace("srgb")
          .raw()
          .toBuffer();
      };
      const [moving, plain] = [await looks(apart([whole, part])), await looks(still)];
      for (const [index, level] of plain.entries())
        expect(Math.abs((moving[index] ?? 0) - level)).toBeLessThan(6);
    },
  );

  test("is transparent around a first frame that is smaller, and has its preview", async () => {
    const bytes = apart([part, whole]);
    const { bytes: rendition } = await renderer.render({ bytes }, "image/png", { format: "png" });
    for (const [x, y, pixel] of [
      [0, 0, [0, 0, 0, 0]],
      [20, 5, [90, 90, 90, 255]],
      [29, 14, [90, 90, 90, 255]],
      [30, 14, [0, 0, 0, 0]],
    ] as const) {
      expect(await pixelsAt(rendition, x, y)).toEqual([pixel]);
    }
    const cleanedPath = "/nonexistent/never-written";
    expect(await renderer.admit({ bytes }, "image/png", { cleanedPath })).toMatchObject({
      ...{ width: 40, height: 40, pages: 2, color: "#5a5a5a", alpha: true, cleaned: null },
      warnings: ["first_frame_only"],
    });
    const alone = await renderer.admit({ bytes: apart([whole]) }, "image/png", { cleanedPath });
    expect(alone).toMatchObject({ pages: 1, color: "#c8c8c8" });
    expect(alone).not.toHaveProperty("warnings");
  });

  test("has the colours of its chunks in its first frame", async () => {
    const light = await levelsOf(apart([whole], [pngChunk("cICP", Buffer.of(1, 8, 0, 1))]));
    expect(light[0]).toBe(229);
  });

  test("is turned as a whole by its orientation", async () => {
    const { bytes } = await renderer.render(
      { bytes: apart([part], [pngChunk("eXIf", exifBlock(6))]) },
      "image/png",
      { format: "png" },
    );
    for (const [x, y, alpha] of [
      [25, 20, 255],
      [34, 29, 255],
      [24, 20, 0],
      [35, 29, 0],
      [20, 5, 0],
    ] as const) {
      expect((await pixelsAt(bytes, x, y))[0]?.[3], `${x}, ${y}`).toBe(alpha);
    }
  });

  test("with a first frame that is damaged, cut, absent or without a width is its own picture", async () => {
    const plain = await levelsOf(pngOf({ size: 40 }));
    const sound = apart([whole]);
    const first = sound.indexOf("fdAT");
    const damaged = Buffer.from(sound).fill(0xff, sound.indexOf("fdAT", first + 4) + 8, sound.length - 20);
    const narrow = Buffer.from(sound);
    narrow.writeUInt32BE(0, sound.indexOf("fcTL") + 8);
    const absent = Buffer.concat([sound.subarray(0, first - 4), sound.subarray(-12)]);
    for (const bytes of [damaged, narrow, absent, sound.subarray(0, first + 9)]) {
      const admission = await renderer.admit({ bytes }, "image/png", { cleanedPath: "/nonexistent/never" });
      expect(admission).toMatchObject({ width: 40, height: 40, cleaned: null });
      expect(await levelsOf(bytes)).toEqual(plain);
    }
  });

  test("with a first frame outside the canvas, or without data of one, is its own picture", async () => {
    const plain = await levelsOf(pngOf({ size: 40 }));
    for (const frames of [[{ ...part, left: 31 }], [{ ...part, top: 4_294_967_295 }], []]) {
      expect(await levelsOf(apart(frames))).toEqual(plain);
    }
  });
});

test.each(["webp", "gif", "jpg", "avif", "psd", "pdf"] as const)(
  "an animated PNG becomes its first picture in %s",
  async (format) => {
    const [moving, still] = await Promise.all(
      [animatedPng(40), pngOf({ size: 40 })].map((bytes) =>
        renderer.render({ bytes }, "image/png", { format }),
      ),
    );
    expect(moving?.bytes).toEqual(still?.bytes);
  },
);
