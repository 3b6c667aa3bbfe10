import { deflateSync } from "node:zlib";
import { isServiceError } from "@outrigger/core";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../test/hostile/random.ts";
import { layer, layeredPsd, plain } from "../../../../../test/support/layered-psd.ts";
import { patterned } from "../../../../../test/support/psd-colours.ts";
import { layerSection } from "../../../../../test/support/psd-layer-section.ts";
import { readPsdPixels } from "../../../../../test/support/psd-pixels.ts";
import { PSD_COMPRESSIONS, resource, samplePsd, section } from "../../../../../test/support/psd-samples.ts";

/** Time limit for each of these files. Most take a millisecond. */
const MAX_MS = 2000;

const rgba = [
  { stored: [200, 100, 50, 255], seen: [] },
  { stored: [200, 100, 50, 128], seen: [] },
];
// The keys of a literal.
const compressions = Object.keys(PSD_COMPRESSIONS) as (keyof typeof PSD_COMPRESSIONS)[];
const merged = [false, true].flatMap((large) =>
  compressions.map((compression) => patterned(rgba, { compression, large, layers: -1 })),
);
const mask = { left: 0, top: 0, defaultColor: 0, imageData: plain(4, 4, [128, 128, 128, 255]) };
const layered = layeredPsd({ width: 8, height: 8 }, [
  layer([0, 0, 8, 8], [200, 200, 200, 255]),
  { children: [layer([1, 1, 4, 4], [9, 9, 9, 200], { mask, blendMode: "multiply" })], opacity: 0.5 },
  layer([2, 2, 4, 4], [1, 2, 3, 255], { clipping: true }),
]);

const knots = [
  [1, 1],
  [7, 1],
  [4, 7],
].map(([x = 0, y = 0]) => ({ linked: false, points: [x, y, x, y, x, y] }));
const stops = [0, 1].map((location) => ({ color: { r: 9, g: location, b: 0 }, location, midpoint: 0.5 }));
const opacityStops = [0, 1].map((location) => ({ opacity: 1, location, midpoint: 0.5 }));
const tile = { id: "p", name: "p", x: 0, y: 0, bounds: { x: 0, y: 0, w: 2, h: 2 }, data: new Uint8Array(16) };
const filled = layeredPsd({ width: 8, height: 8, patterns: [tile] }, [
  { vectorFill: { type: "color", color: { r: 1, g: 2, b: 3 } } },
  {
    vectorFill: { type: "solid", name: "", style: "angle", angle: 3, colorStops: stops, opacityStops },
    vectorMask: { paths: [{ open: false, fillRule: "even-odd", operation: "combine", knots }] },
  },
  { vectorFill: { type: "pattern", name: "p", id: "p" }, blendMode: "hue" },
]);

/** Reads all pixels. Fails on any outcome but a picture or a refusal, and when that takes too long. */
async function outcomeOf(bytes: Buffer, maxPixels = 100_000): Promise<"picture" | "refused"> {
  const began = process.cpuUsage();
  const outcome = await readPsdPixels(bytes, maxPixels).then(
    () => "picture" as const,
    (error: unknown) => {
      // Not even an error of libvips: it always receives a valid TIFF.
      if (!isServiceError(error) || error.code !== "unsupported_media") throw error;
      return "refused" as const;
    },
  );
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(MAX_MS);
  return outcome;
}

describe("a truncation", () => {
  test.each(
    merged.map((bytes, index) => [compressions[index % 4], index < 4 ? "PSD" : "PSB", bytes] as const),
  )("anywhere in a %s %s is detected", async (compression, _, bytes) => {
    // What is deflated ends with a sum, which nothing depends on, and before it may come the end of a block.
    const dispensable = compression === "zip" || compression === "predicted" ? 6 : 0;
    for (let length = 0; length < bytes.length - dispensable; length++) {
      expect(await outcomeOf(bytes.subarray(0, length)), `${length} of ${bytes.length}`).toBe("refused");
    }
    expect(await outcomeOf(bytes)).toBe("picture");
  });

  test("in the layer section is detected in a file with only layers", async () => {
    // After the layers comes a merged picture, which says nothing.
    const end = 26 + 4 + 4 + layered.readUInt32BE(30);
    const layersEnd = end + 4 + layered.readUInt32BE(end);
    for (let length = 0; length < layersEnd; length += 3) {
      expect(await outcomeOf(layered.subarray(0, length)), `${length}`).toBe("refused");
    }
    expect(await outcomeOf(layered)).toBe("picture");
  });
});

describe("flipped bits", () => {
  const { below } = createRandom(20);

  test.each([...merged, layered, filled].map((bytes, index) => [index, bytes] as const))(
    "in file %i cause a picture or a refusal",
    async (_, bytes) => {
      for (let round = 0; round < 150; round++) {
        const damaged = Buffer.from(bytes);
        for (let flips = 1 + below(4); flips > 0; flips--) {
          const position = below(damaged.length);
          damaged[position] = (damaged[position] ?? 0) ^ (1 << below(8));
        }
        await outcomeOf(damaged);
      }
    },
  );

  test.each([merged[1], merged[5], layered, filled])(
    "in a length cause a picture or a refusal",
    async (bytes = Buffer.alloc(0)) => {
      for (let position = 26; position < Math.min(bytes.length - 4, 1600); position++) {
        for (const length of [0xffffffff, 0x10000]) {
          const damaged = Buffer.from(bytes);
          damaged.writeUInt32BE(length, position);
          await outcomeOf(damaged);
        }
      }
    },
  );
});

/** A file that declares a size and holds almost no pixels. */
function empty(fields: Record<number, number>, end: Buffer): Buffer {
  const header = Buffer.from(merged[0]?.subarray(0, 26) ?? []);
  for (const [position, value] of Object.entries(fields)) header.writeUInt32BE(value, Number(position));
  return Buffer.concat([header, Buffer.alloc(header[5] === 2 ? 16 : 12), end]);
}

describe("a PSD that declares more than it holds is refused:", () => {
  const bomb = deflateSync(Buffer.alloc(100_000_000));
  const RAW = Buffer.of(0, 0);
  const PACKED = Buffer.of(0, 1);

  test.each([
    ["100,000 pixels square", { 14: 100_000, 18: 100_000 }, RAW],
    ["30,000 pixels square, packed", { 14: 30_000, 18: 30_000 }, PACKED],
  ])("%s", async (_, fields, end) => {
    expect(await outcomeOf(empty(fields, end), 50_000_000)).toBe("refused");
    expect(await outcomeOf(empty(fields, end), 1_000_000_000)).toBe("refused");
  });

  test("56 channels", async () => {
    const bytes = empty({ 14: 7000, 18: 7000 }, Buffer.concat([PACKED, Buffer.alloc(100_000)]));
    bytes.writeUInt16BE(56, 12);
    expect(await outcomeOf(bytes, 50_000_000)).toBe("refused");
  });

  test("rows that unpack to nothing, or to more than a row", async () => {
    for (const packed of [[0x80, 0x80], [0x81, 7], [0x7f, 1], [0x00]]) {
      const counts = Buffer.alloc(6);
      for (const at of [0, 2, 4]) counts.writeUInt16BE(packed.length, at);
      const rows = Buffer.concat([PACKED, counts, ...[0, 1, 2].map(() => Buffer.from(packed))]);
      const bytes = empty({ 14: 1, 18: 100 }, rows);
      bytes.writeUInt16BE(3, 12);
      expect(await outcomeOf(bytes)).toBe(packed[0] === 0x81 ? "picture" : "refused");
    }
  });

  test("100 MB in 100 kB of ZIP", async () => {
    for (const compression of [2, 3]) {
      const end = Buffer.concat([Buffer.of(0, compression), bomb]);
      expect(await outcomeOf(empty({ 14: 300, 18: 300 }, end))).toBe("picture");
      expect(await outcomeOf(empty({ 14: 7000, 18: 7000 }, end.subarray(0, 1000)), 50_000_000)).toBe(
        "refused",
      );
    }
  });

  test("layers", async () => {
    const layers = [
      { width: 30_000, height: 30_000, samples: {} },
      { width: 4, height: 3, samples: { 0: 1, 1: 1, 2: 1 } },
    ];
    const channels = [1, 2, 3].map(() => new Array<number>(12).fill(255));
    const sample = { width: 4, height: 3, channels, hasMergedPicture: false };
    expect(await outcomeOf(samplePsd({ ...sample, layers: layerSection(layers, 8) }))).toBe("refused");
    for (const count of [32_767, -32_768]) {
      expect(await outcomeOf(samplePsd({ ...sample, layers: count }))).toBe("refused");
    }
  });

  test("layers that are ZIP bombs", async () => {
    const small = layerSection([{ width: 4, height: 3, samples: { 0: 1 }, compression: "zip" }], 8);
    const channels = [new Array<number>(12).fill(255)];
    const zipped = small.subarray(0, small.indexOf(Buffer.of(0, 2, 0x78)) + 2);
    const info = Buffer.concat([zipped.subarray(4), bomb]);
    info.writeUInt32BE(2 + bomb.length, 2 + 18 + 2);
    const layers = Buffer.concat([section(info), section(Buffer.alloc(0))]);
    const sample = { width: 4, height: 3, mode: "greyscale", channels, hasMergedPicture: false } as const;
    expect(await outcomeOf(samplePsd({ ...sample, layers }))).toBe("picture");
  });
});

test("a PSD with resources beyond the end is read without them", async () => {
  const past = resource(1039, Buffer.alloc(10));
  past.writeUInt32BE(0xffffffff, 8);
  const [bytes = Buffer.alloc(0)] = merged;
  const length = bytes.readUInt32BE(30);
  const rest = bytes.subarray(34 + length);
  const damaged = Buffer.concat([bytes.subarray(0, 30), section(past), rest]);
  expect(await outcomeOf(damaged)).toBe("picture");
});
