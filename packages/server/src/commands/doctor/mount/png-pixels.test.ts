import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { readPngPixels } from "./png-pixels.ts";

const WIDTH = 33;
const HEIGHT = 21;

describe("readPngPixels", () => {
  it.each([1, 2, 3, 4] as const)(
    "reads a PNG written by sharp with %i samples per pixel",
    async (channels) => {
      const raw = Buffer.from(
        Array.from({ length: WIDTH * HEIGHT * channels }, (_, index) => (index * index * 7 + index) % 256),
      );
      // sharp uses every PNG filter where it reduces the size.
      const png = await sharp(raw, { raw: { width: WIDTH, height: HEIGHT, channels } })
        .toColourspace(channels < 3 ? "b-w" : "srgb")
        .png({ adaptiveFiltering: true })
        .toBuffer();
      const pixels = readPngPixels(png);
      expect(pixels).toMatchObject({ width: WIDTH, height: HEIGHT, bytesPerPixel: channels });
      expect(Buffer.concat(pixels.rows)).toEqual(raw);
    },
  );

  it.each([
    ["an HTML page", async () => Buffer.from("<html>no picture at all</html>"), "not a PNG"],
    ["an empty reply", async () => Buffer.alloc(0), "not a PNG"],
    [
      "16 bits a sample",
      () =>
        sharp({ create: { width: 2, height: 2, channels: 3, background: "#123" } })
          .toColourspace("rgb16")
          .png()
          .toBuffer(),
      "an unsupported format",
    ],
  ])("rejects %s", async (_what, bytes, message) => {
    const png = await bytes();
    expect(() => readPngPixels(png)).toThrow(message);
  });
});
