import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { patterned } from "../../../../../test/support/psd-colours.ts";
import { largestDifference, readPsdPixels } from "../../../../../test/support/psd-pixels.ts";
import { type SamplePsd, samplePsd } from "../../../../../test/support/psd-samples.ts";

let displayP3: Buffer;
let cmyk: Buffer;
const linearGrey = greyProfile(1);

beforeAll(async () => {
  const picture = { create: { width: 1, height: 1, channels: 3, background: "#777777" } } as const;
  displayP3 = await profileOf(await sharp(picture).withIccProfile("p3").png().toBuffer());
  cmyk = await profileOf(await sharp(picture).toColourspace("cmyk").withIccProfile("cmyk").jpeg().toBuffer());
});

async function profileOf(picture: Buffer): Promise<Buffer> {
  const { icc } = await sharp(picture).metadata();
  if (icc === undefined) throw new Error("The picture has no profile");
  return icc;
}

/** The smallest profile for grey with a gamma curve. Source: ICC.1:2001-04. */
function greyProfile(gamma: number): Buffer {
  const tags = [
    ["wtpt", Buffer.from("XYZ \0\0\0\0\0\0\xf6\xd6\0\x01\0\0\0\0\xd3\x2d", "latin1")],
    ["kTRC", Buffer.concat([Buffer.from("curv\0\0\0\0\0\0\0\x01", "latin1"), Buffer.of(gamma, 0, 0, 0)])],
  ] as const;
  const head = Buffer.alloc(128 + 4 + tags.length * 12);
  head.write("GRAYXYZ ", 16, "latin1");
  head.write("mntr", 12, "latin1");
  head.write("acsp", 36, "latin1");
  head.writeUInt32BE(0x02400000, 8);
  head.write("\0\0\xf6\xd6\0\x01\0\0\0\0\xd3\x2d", 68, "latin1");
  head.writeUInt32BE(tags.length, 128);
  let position = head.length;
  tags.forEach(([name, data], index) => {
    const entryAt = 132 + index * 12;
    head.write(name, entryAt, "latin1");
    head.writeUInt32BE(position, entryAt + 4);
    head.writeUInt32BE(data.length, entryAt + 8);
    position += data.length;
  });
  head.writeUInt32BE(position, 0);
  return Buffer.concat([head, ...tags.map(([, data]) => data)]);
}

async function firstPixel(sample: Omit<SamplePsd, "width" | "height">): Promise<number[]> {
  return (await readPsdPixels(samplePsd({ width: 1, height: 1, ...sample }))).at(0, 0);
}

describe("openPsd applies the profile", () => {
  /** The result of libvips for the colour [200, 100, 50] of Display P3. */
  const fromP3 = [215, 93, 32];

  test.each([8, 16] as const)("of RGB of %s bits", async (depth) => {
    const channels = [200, 100, 50].map((sample) => [sample * (depth === 16 ? 257 : 1)]);
    expect(
      largestDifference(await firstPixel({ depth, channels, iccProfile: displayP3 }), fromP3),
    ).toBeLessThan(2);
  });

  test("of an indexed picture", async () => {
    const palette = Buffer.concat([200, 100, 50].map((sample) => Buffer.alloc(256, sample)));
    const pixel = await firstPixel({ mode: "indexed", palette, channels: [[7]], iccProfile: displayP3 });
    expect(largestDifference(pixel, fromP3)).toBeLessThan(2);
  });

  test.each([8, 16] as const)("of grey of %s bits, with and without alpha", async (depth) => {
    const scale = depth === 16 ? 257 : 1;
    const grey = { mode: "greyscale", depth, iccProfile: linearGrey } as const;
    // A fifth of the light.
    const seen = [124, 124, 124];
    expect(largestDifference(await firstPixel({ ...grey, channels: [[51 * scale]] }), seen)).toBeLessThan(2);
    const channels = [[51 * scale], [255 * scale]];
    const pixel = await firstPixel({ ...grey, channels, layers: -1 });
    expect(largestDifference(pixel, [...seen, 255])).toBeLessThan(2);
  });

  test("of CMYK, with and without alpha", async () => {
    const channels = [[255], [0], [0], [255]];
    const opaque = await firstPixel({ mode: "cmyk", channels, iccProfile: cmyk });
    expect(largestDifference(opaque, [232, 0, 0])).toBeLessThan(4);
    const transparent = await firstPixel({
      mode: "cmyk",
      channels: [...channels, [255]],
      layers: -1,
      iccProfile: cmyk,
    });
    expect(transparent).toEqual([...opaque, 255]);
  });
});

describe("openPsd ignores a profile", () => {
  const channels = [[200], [100], [50]];
  const asItIs = [200, 100, 50];

  test("of another colour space", async () => {
    expect(await firstPixel({ channels, iccProfile: cmyk })).toEqual(asItIs);
    expect(await firstPixel({ channels, iccProfile: linearGrey })).toEqual(asItIs);
    expect(await firstPixel({ mode: "greyscale", channels: [[80]], iccProfile: displayP3 })).toEqual([
      80, 80, 80,
    ]);
  });

  test("without valid data or tags", async () => {
    const damaged = Buffer.from(displayP3).fill(0xee, 132);
    for (const iccProfile of [Buffer.alloc(0), Buffer.alloc(500), displayP3.subarray(0, 100), damaged]) {
      expect(await firstPixel({ channels, iccProfile })).toEqual(asItIs);
    }
  });

  test("truncated anywhere", async () => {
    for (let length = 100; length < displayP3.length; length += 20) {
      const iccProfile = displayP3.subarray(0, length);
      expect(await firstPixel({ channels, iccProfile }), `${length}`).toEqual(asItIs);
    }
  });

  test("that is damaged, and uses libvips' profile for CMYK", async () => {
    const damaged = Buffer.from(cmyk).fill(0xee, 132);
    const colour = [{ stored: [255, 0, 0, 255], seen: [] }];
    const bytes = patterned(colour, { mode: "cmyk", iccProfile: damaged });
    expect(largestDifference((await readPsdPixels(bytes)).at(0, 0), [232, 0, 0])).toBeLessThan(4);
  });
});
