import { deflateSync } from "node:zlib";
import { isServiceError } from "@outrigger/core";
import { describe, expect, test } from "vitest";
import { patterned } from "../../../../../test/support/psd-colours.ts";
import { readPsdPixels } from "../../../../../test/support/psd-pixels.ts";
import { PSD_COMPRESSIONS, resource, section } from "../../../../../test/support/psd-samples.ts";

/** Time limit for each of these files. Most take a millisecond. */
const MAX_MS = 20_000;

const rgba = [
  { stored: [200, 100, 50, 255], seen: [] },
  { stored: [200, 100, 50, 128], seen: [] },
];
// The keys of a literal.
const compressions = Object.keys(PSD_COMPRESSIONS) as (keyof typeof PSD_COMPRESSIONS)[];
const merged = [false, true].flatMap((large) =>
  compressions.map((compression) => patterned(rgba, { compression, large, layers: -1 })),
);
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
});

test("a wrong length anywhere causes a picture or a refusal", async () => {
  for (const bytes of [merged[1], merged[5]]) {
    if (bytes === undefined) throw new Error("There are eight files");
    for (let position = 26; position < Math.min(bytes.length - 4, 1600); position++) {
      for (const length of [0xffffffff, 0x10000]) {
        const damaged = Buffer.from(bytes);
        damaged.writeUInt32BE(length, position);
        await outcomeOf(damaged);
      }
    }
  }
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
