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

interface Transparent {
  sample: Partial<SamplePsd>;
  /** The stored colour of an opaque pixel, of white, and the alpha. */
  stored: number[];
  white: number[];
  opaque: number;
  seen: number[];
  tolerance: number;
}

const red = { stored: [255, 0, 0, 255], white: [255, 255, 255, 255], seen: [232, 0, 0] };
const inks = { ...red, tolerance: 4 };
const cases: [name: string, Transparent][] = [
  [
    "greyscale, 8 bits",
    {
      sample: { mode: "greyscale" },
      stored: [100],
      white: [255],
      opaque: 255,
      seen: [100, 100, 100],
      tolerance: 1,
    },
  ],
  [
    "greyscale, 16 bits",
    {
      sample: { mode: "greyscale", depth: 16 },
      stored: [25_700],
      white: [65_535],
      opaque: 65_535,
      seen: [100, 100, 100],
      tolerance: 2,
    },
  ],
  [
    "greyscale, 32 bits",
    {
      sample: { mode: "greyscale", depth: 32 },
      stored: [0.5],
      white: [1],
      opaque: 1,
      seen: [188, 188, 188],
      tolerance: 1,
    },
  ],
  [
    "RGB, 8 bits",
    {
      sample: {},
      stored: [200, 100, 50],
      white: [255, 255, 255],
      opaque: 255,
      seen: [200, 100, 50],
      tolerance: 2,
    },
  ],
  [
    "RGB, 16 bits",
    {
      sample: { depth: 16 },
      stored: [51_400, 25_700, 12_850],
      white: [65_535, 65_535, 65_535],
      opaque: 65_535,
      seen: [200, 100, 50],
      tolerance: 4,
    },
  ],
  [
    "RGB, 32 bits",
    {
      sample: { depth: 32 },
      stored: [0.5, 0.1, 0],
      white: [1, 1, 1],
      opaque: 1,
      seen: [188, 89, 0],
      tolerance: 1,
    },
  ],
  ["CMYK, 8 bits", { sample: { mode: "cmyk" }, ...inks, opaque: 255 }],
  [
    "CMYK, 16 bits",
    {
      sample: { mode: "cmyk", depth: 16 },
      ...inks,
      stored: [65_535, 0, 0, 65_535],
      white: [65_535, 65_535, 65_535, 65_535],
      opaque: 65_535,
    },
  ],
  [
    "Lab, 8 bits",
    {
      sample: { mode: "lab" },
      stored: [153, 148, 98],
      white: [255, 128, 128],
      opaque: 255,
      seen: [160, 133, 198],
      tolerance: 4,
    },
  ],
  [
    "Lab, 16 bits",
    {
      sample: { mode: "lab", depth: 16 },
      stored: [39_321, 37_888, 25_088],
      white: [65_535, 32_768, 32_768],
      opaque: 65_535,
      seen: [160, 133, 198],
      tolerance: 4,
    },
  ],
];

/** An opaque colour and two that are merged with white. */
function matted({ sample, stored, white, opaque, seen }: Transparent): Colour[] {
  return [1, 0.6, 0.2].map((share) => {
    const mixed = stored.map((value, channel) => value * share + (white[channel] ?? 0) * (1 - share));
    const samples = [...mixed, opaque * share];
    return {
      stored: sample.depth === 32 ? samples : samples.map(Math.round),
      seen: [...seen, Math.round(255 * share)],
    };
  });
}

describe.each(cases)("merged alpha, %s", (_, transparent) => {
  const { sample, tolerance } = transparent;
  const colours = matted(transparent);

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
        const more = {
          ...sample,
          large,
          resources: [alphaIds(0)],
          ...(layers === undefined ? {} : { layers }),
        };
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
    const [white = 0] = sample.depth === 32 ? [1] : sample.depth === 16 ? [65_535] : [255];
    const selected = colours.map(({ stored, seen }) => ({
      stored: [...stored.slice(0, -1), white, stored.at(-1) ?? 0],
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
    expect(Math.abs(redness - (transparent.seen[0] ?? 0))).toBeLessThanOrEqual(tolerance + 2);
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

test.each([16, 32] as const)(
  "a negative count in the block of %i-bit layers declares alpha even after a positive count",
  async (depth) => {
    for (const large of [false, true]) {
      const count = Buffer.of(0, 1, 0, 0);
      const blocks = Buffer.concat([
        section(count, large),
        section(Buffer.alloc(0)),
        Buffer.from(`8BIMLr${depth}`, "latin1"),
        section(Buffer.of(0xff, 0xff, 0, 0), large),
      ]);
      const bytes = patterned([{ stored: [0, 0, 0, 0], seen: [] }], { layers: blocks, depth, large });
      expect((await readPsdPixels(bytes)).channels).toBe(4);
    }
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
