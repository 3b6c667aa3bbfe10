import { describe, expect, test } from "vitest";
import { type Colour, expectColours, patterned, scaled } from "../../../../../test/support/psd-colours.ts";
import { PSD_COMPRESSIONS, type SamplePsd } from "../../../../../test/support/psd-samples.ts";
import { openPsd } from "./open-psd.ts";
import { readPsdHeader } from "./psd-header.ts";

// The keys of a literal.
const COMPRESSIONS = Object.keys(PSD_COMPRESSIONS) as (keyof typeof PSD_COMPRESSIONS)[];

const RGB: Colour[] = [
  { stored: [200, 100, 50], seen: [200, 100, 50] },
  { stored: [0, 255, 7], seen: [0, 255, 7] },
  { stored: [31, 32, 233], seen: [31, 32, 233] },
];
const GREY: Colour[] = [
  { stored: [100], seen: [100, 100, 100] },
  { stored: [0], seen: [0, 0, 0] },
  { stored: [255], seen: [255, 255, 255] },
];
/** No ink, magenta with yellow, black: with libvips' default profile for CMYK. */
const CMYK: Colour[] = [
  { stored: [255, 255, 255, 255], seen: [255, 255, 255] },
  { stored: [255, 0, 0, 255], seen: [232, 0, 0] },
  { stored: [255, 255, 255, 0], seen: [20, 5, 0] },
];
/** A grey, the red and the blue of sRGB. */
const LAB: Colour[] = [
  { stored: [137, 128, 128], seen: [128, 128, 128] },
  { stored: [138, 209, 198], seen: [255, 0, 0] },
  { stored: [75, 196, 16], seen: [0, 0, 255] },
];
/** With 16 bits, a and b are signed and in units of 1/256. */
const WIDE_LAB = LAB.map(({ stored: [lightness = 0, a = 0, b = 0], seen }) => ({
  stored: [lightness * 257, a * 256, b * 256],
  seen,
}));
const BITS: Colour[] = [
  { stored: [0], seen: [255, 255, 255] },
  { stored: [1], seen: [0, 0, 0] },
  { stored: [1], seen: [0, 0, 0] },
];
const PALETTE = Buffer.from(
  [0, 85, 170].flatMap((start) => Array.from({ length: 256 }, (_, index) => (start + index) % 256)),
);
const INDEXED: Colour[] = [0, 3, 255].map((index) => ({
  stored: [index],
  seen: [index, (85 + index) % 256, (170 + index) % 256],
}));

const modes: [name: string, sample: Partial<SamplePsd>, colours: Colour[], tolerance: number][] = [
  ["bitmap", { mode: "bitmap", depth: 1 }, BITS, 0],
  ["greyscale, 8 bits", { mode: "greyscale" }, GREY, 0],
  ["greyscale, 16 bits", { mode: "greyscale", depth: 16 }, scaled(GREY, 257), 0],
  ["indexed", { mode: "indexed", palette: PALETTE }, INDEXED, 0],
  ["RGB, 8 bits", {}, RGB, 0],
  ["RGB, 16 bits", { depth: 16 }, scaled(RGB, 257), 0],
  ["CMYK, 8 bits", { mode: "cmyk" }, CMYK, 4],
  ["CMYK, 16 bits", { mode: "cmyk", depth: 16 }, scaled(CMYK, 257), 4],
  ["duotone", { mode: "duotone" }, GREY, 0],
  ["Lab, 8 bits", { mode: "lab" }, LAB, 6],
  ["Lab, 16 bits", { mode: "lab", depth: 16 }, WIDE_LAB, 6],
];

describe.each(modes)("openPsd reads %s", (_, sample, colours, tolerance) => {
  test.each(COMPRESSIONS)("compressed as %s", async (compression) => {
    await expectColours(patterned(colours, { ...sample, compression }), colours, tolerance);
  });

  test.each(COMPRESSIONS)("from a PSB compressed as %s", async (compression) => {
    await expectColours(patterned(colours, { ...sample, compression, large: true }), colours, tolerance);
  });

  test("and ignores additional channels", async () => {
    const more = colours.map(({ stored, seen }) => ({ stored: [...stored, 1, 0], seen }));
    await expectColours(patterned(more, { ...sample, layers: 2 }), colours, tolerance);
  });
});

test("openPsd reports the size before decoding", async () => {
  const { decode: _, ...measures } = await openPsd(patterned(RGB), { maxPixels: 20 });
  expect(measures).toEqual({ natural: { width: 5, height: 4 }, frames: 1, pages: 1, scalable: false });
});

test("openPsd decodes repeatedly without modifying the file", async () => {
  const bytes = patterned(CMYK, { mode: "cmyk", depth: 16, compression: "raw" });
  const before = Buffer.from(bytes);
  const picture = await openPsd(bytes, { maxPixels: 20 });
  const [first, second] = [await picture.decode(), await picture.decode()];
  expect((await first.raw().toBuffer()).equals(await second.raw().toBuffer())).toBe(true);
  expect(bytes.equals(before)).toBe(true);
});

test("openPsd reads a palette of fewer than 256 colours", async () => {
  const palette = Buffer.from([10, 20, 30, 40, 50, 60]);
  const colours = [
    { stored: [0], seen: [10, 30, 50] },
    { stored: [1], seen: [20, 40, 60] },
    { stored: [9], seen: [0, 0, 0] },
  ];
  await expectColours(patterned(colours, { mode: "indexed", palette }), colours, 0);
  const empty = patterned(colours, { mode: "indexed", palette: palette.subarray(0, 2) });
  await expect(openPsd(empty, { maxPixels: 20 })).rejects.toMatchObject({ code: "unsupported_media" });
});

const psd = patterned([{ stored: [1, 2, 3], seen: [] }]);

/** A header of 5 by 4 pixels of RGB with some 16-bit fields replaced, by position. */
function header(fields: Record<number, number> = {}): Buffer {
  const bytes = Buffer.from(psd.subarray(0, 26));
  for (const [position, value] of Object.entries(fields)) bytes.writeUInt16BE(value, Number(position));
  return bytes;
}

test("readPsdHeader reads the declared values", () => {
  const declared = { width: 5, height: 4, channels: 3, depth: 8, mode: "rgb" };
  expect(readPsdHeader(header())).toEqual({ ...declared, large: false });
  expect(readPsdHeader(header({ 4: 2 }))).toEqual({ ...declared, large: true });
});

test("readPsdHeader accepts up to 300,000 pixels a side in a PSD as in a PSB", () => {
  for (const version of [1, 2]) {
    // 0x40000 is 262,144, and 0x50000 is 327,680.
    expect(readPsdHeader(header({ 4: version, 18: 4, 20: 0 })).width).toBe(262_144);
    expect(() => readPsdHeader(header({ 4: version, 18: 5, 20: 0 }))).toThrow("327680 by 4 pixels");
  }
});

test.each([
  ["another signature", Buffer.concat([Buffer.from("8BPX"), header().subarray(4)]), "it has no PSD header"],
  ["nothing", Buffer.alloc(0), "it has no PSD header"],
  ["a cut header", header().subarray(0, 25), "The file is damaged or incomplete."],
  ["version 3", header({ 4: 3 }), "its version is 3"],
  ["no channels", header({ 12: 0 }), "0 channels"],
  ["57 channels", header({ 12: 57 }), "57 channels"],
  ["RGB of two channels", header({ 12: 2 }), "2 channels as rgb"],
  ["CMYK of three channels", header({ 24: 4 }), "3 channels as cmyk"],
  ["no width", header({ 20: 0 }), "0 by 4 pixels"],
  ["a height of 327,684", header({ 14: 5 }), "5 by 327684 pixels"],
  ["5 bits", header({ 22: 5 }), "5 bits a channel as rgb"],
  ["RGB of one bit", header({ 22: 1 }), "1 bits a channel as rgb"],
  ["floats", header({ 22: 32 }), "it has 32 bits a channel: save it with 8 or 16"],
  ["multichannel", header({ 24: 7 }), "it is multichannel: save it as RGB or CMYK"],
  ["colour mode 5", header({ 24: 5 }), "its colour mode is 5"],
])("readPsdHeader refuses %s", (_, bytes, reason) => {
  expect(() => readPsdHeader(bytes)).toThrow(
    expect.objectContaining({ code: "unsupported_media", message: expect.stringContaining(reason) }),
  );
});

test("openPsd refuses more than maxPixels", async () => {
  await expect(openPsd(psd, { maxPixels: 20 })).resolves.toMatchObject({ natural: { width: 5, height: 4 } });
  await expect(openPsd(psd, { maxPixels: 19 })).rejects.toMatchObject({ code: "unsupported_media" });
});

test.each([1, -2])("openPsd refuses a file of %i layers that declares no merged picture", async (layers) => {
  const bytes = patterned(RGB, { layers, hasMergedPicture: false });
  await expect(openPsd(bytes, { maxPixels: 20 })).rejects.toMatchObject({
    code: "unsupported_media",
    message: expect.stringContaining('it holds no merged picture: save it with "Maximize Compatibility"'),
  });
});

test("openPsd reads a file without layers, whatever it declares of its merged picture", async () => {
  await expectColours(patterned(RGB, { hasMergedPicture: false }), RGB, 0);
});
