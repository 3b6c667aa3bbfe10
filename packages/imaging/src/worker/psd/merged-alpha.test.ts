import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { type Colour, expectColours, patterned } from "../../../../../test/support/psd-colours.ts";
import { readPsdPixels } from "../../../../../test/support/psd-pixels.ts";
import {
  alphaIds,
  alphaNames,
  type SamplePsd,
  section,
  unicodeAlphaNames,
} from "../../../../../test/support/psd-samples.ts";
import { openPsd } from "./open-psd.ts";

/** Of each mode and depth: a stored colour, white, opaque alpha, the colour as it is seen, and its tolerance. */
const cases: [
  Partial<SamplePsd>,
  stored: number[],
  white: number[],
  opaque: number,
  seen: number[],
  number,
][] = [
  [{ mode: "greyscale" }, [100], [255], 255, [100, 100, 100], 1],
  [{ mode: "greyscale", depth: 16 }, [25_700], [65_535], 65_535, [100, 100, 100], 2],
  [{}, [200, 100, 50], [255, 255, 255], 255, [200, 100, 50], 2],
  [{ depth: 16 }, [51_400, 25_700, 12_850], [65_535, 65_535, 65_535], 65_535, [200, 100, 50], 4],
  [{ mode: "cmyk" }, [255, 0, 0, 255], [255, 255, 255, 255], 255, [232, 0, 0], 4],
  [
    { mode: "cmyk", depth: 16 },
    [65_535, 0, 0, 65_535],
    [65_535, 65_535, 65_535, 65_535],
    65_535,
    [232, 0, 0],
    4,
  ],
  [{ mode: "lab" }, [153, 148, 98], [255, 128, 128], 255, [160, 133, 198], 4],
  [
    { mode: "lab", depth: 16 },
    [39_321, 37_888, 25_088],
    [65_535, 32_768, 32_768],
    65_535,
    [160, 133, 198],
    4,
  ],
];

describe.each(cases)("merged alpha of %j", (sample, stored, white, opaque, seen, tolerance) => {
  /** An opaque colour and two that are merged with white. */
  const colours = [1, 0.6, 0.2].map((share): Colour => {
    const mixed = stored.map((value, channel) => value * share + (white[channel] ?? 0) * (1 - share));
    return {
      stored: [...mixed, opaque * share].map(Math.round),
      seen: [...seen, Math.round(255 * share)],
    };
  });

  test.each([false, true])("colours are unmerged from white, PSB: %s", async (large) => {
    await expectColours(patterned(colours, { ...sample, large, layers: -1 }), colours, tolerance);
  });

  test("an extra channel is not alpha when the layer count is not negative", async () => {
    expect((await readPsdPixels(patterned(colours, { ...sample, layers: 1 }))).channels).toBe(3);
    expect((await readPsdPixels(patterned(colours, sample))).channels).toBe(3);
  });

  test.each([false, true])(
    "the channel with ID 0 is alpha whatever the layer count, PSB: %s",
    async (large) => {
      for (const layers of [undefined, 0, 3]) {
        const declared = layers === undefined ? {} : { layers };
        const more = { ...sample, ...declared, large, resources: [alphaIds(0)] };
        await expectColours(patterned(colours, more), colours, tolerance);
      }
    },
  );

  test("a channel with another ID stays a saved selection", async () => {
    const resources = [alphaIds(3), alphaNames("Alpha 1")];
    const read = await readPsdPixels(patterned(colours, { ...sample, layers: 2, resources }));
    expect(read.channels).toBe(3);
  });

  test("alpha is found after a saved selection", async () => {
    const selected = colours.map(({ stored, seen }) => ({
      stored: [...stored.slice(0, -1), opaque, stored.at(-1) ?? 0],
      seen,
    }));
    const resources = [alphaIds(7, 0)];
    await expectColours(patterned(selected, { ...sample, resources }), selected, tolerance);
  });

  test("a picture without an extra channel has no alpha", async () => {
    const opaque = colours.map(({ stored, seen }) => ({ stored: stored.slice(0, -1), seen }));
    expect((await readPsdPixels(patterned(opaque, { ...sample, layers: -1 }))).channels).toBe(3);
  });

  test("resizing ignores the colour of transparent pixels", async () => {
    const picture = await openPsd(patterned(colours, { ...sample, layers: -1 }), { maxPixels: 100 });
    const resized = (await picture.decode()).resize(1, 1, { fit: "fill" }).png();
    const [redness = 0, , , alpha = 0] = await sharp(await resized.toBuffer())
      .raw()
      .toBuffer();
    expect(Math.abs(redness - (seen[0] ?? 0))).toBeLessThanOrEqual(tolerance + 2);
    expect(Math.abs(alpha - 255 * 0.6)).toBeLessThanOrEqual(12);
  });
});

test.each([
  ["by name", [alphaNames("Transparency")], 4],
  ["by name in Unicode", [alphaNames("Transparenz"), unicodeAlphaNames("Transparency")], 4],
  ["by ID, whatever its name", [alphaIds(0), alphaNames("Transparenz")], 4],
  ["not by a name that has another ID", [alphaIds(9), alphaNames("Transparency")], 3],
  ["not by another name", [alphaNames("Alpha 1"), unicodeAlphaNames("Alpha 1")], 3],
  ["not without name and ID", [], 3],
  ["not by damaged resources", [alphaIds().fill(0xff, 12), unicodeAlphaNames("")], 3],
] as const)("merged alpha is declared %s", async (_, resources, channels) => {
  for (const large of [false, true]) {
    const bytes = patterned([{ stored: [0, 0, 0, 9], seen: [] }], { layers: 1, large, resources });
    expect((await readPsdPixels(bytes)).channels).toBe(channels);
  }
});

test("merged alpha is declared by an ID only when the channel exists", async () => {
  const bytes = patterned([{ stored: [0, 0, 0, 9], seen: [] }], { resources: [alphaIds(4, 5, 0)] });
  expect((await readPsdPixels(bytes)).channels).toBe(3);
});

test.each([false, true])(
  "a negative count in the block of 16-bit layers declares alpha even after a positive count, PSB: %s",
  async (large) => {
    const count = Buffer.of(0, 1, 0, 0);
    const blocks = Buffer.concat([
      section(count, large),
      section(Buffer.alloc(0)),
      Buffer.from("8BIMLr16", "latin1"),
      section(Buffer.of(0xff, 0xff, 0, 0), large),
    ]);
    const bytes = patterned([{ stored: [0, 0, 0, 0], seen: [] }], { layers: blocks, depth: 16, large });
    expect((await readPsdPixels(bytes)).channels).toBe(4);
  },
);

test("openPsd keeps alpha 0 for fully transparent pixels", async () => {
  const bytes = patterned([{ stored: [255, 255, 255, 0], seen: [] }], { layers: -1 });
  expect((await readPsdPixels(bytes)).at(0, 0)[3]).toBe(0);
});

test.each([
  ["Mtrn", 8],
  ["Mt16", 16],
] as const)("a block %s also declares merged alpha", async (key, depth) => {
  const blocks = Buffer.concat([
    section(Buffer.alloc(0)),
    section(Buffer.alloc(0)),
    Buffer.from("8BIMFMsk\0\0\0\x03abc\0", "latin1"),
    Buffer.from(`8BIM${key}\0\0\0\0`, "latin1"),
  ]);
  const bytes = patterned([{ stored: [0, 0, 0, 0], seen: [] }], { layers: blocks, depth });
  expect((await readPsdPixels(bytes)).channels).toBe(4);
});

test("openPsd supports a transparent palette entry", async () => {
  const palette = Buffer.alloc(768, 9);
  const colours = [0, 200, 3].map((index) => ({ stored: [index], seen: [9, 9, 9, index === 200 ? 0 : 255] }));
  await expectColours(patterned(colours, { mode: "indexed", palette, transparentIndex: 200 }), colours, 0);
});
