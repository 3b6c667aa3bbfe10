import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sample } from "../../../../test/fidelity/samples/sample.ts";
import { unlawfulSamples } from "../../../../test/fidelity/samples/unlawful.ts";
import { animatedPng, restartingJpeg } from "../../../../test/support/raster-files.ts";
import { exifBlock } from "../../test/exif-blocks.ts";
import { asBrowsersRead } from "./as-browsers-read.ts";

const renderer = createRenderer({ workers: 1 });
let directory: string;
let samples: Map<string, Sample>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-unlawful-"));
  samples = new Map((await unlawfulSamples()).map((sample) => [sample.name, sample]));
});
afterAll(async () => {
  await renderer.close();
  await rm(directory, { recursive: true });
});

/** Pixels of a PNG that is made from the upload, and from the stored file. */
async function renderBoth({ bytes, type }: Sample, keepMetadata: boolean): Promise<Buffer[]> {
  const cleanedPath = join(directory, crypto.randomUUID());
  const { cleaned, width, height } = await renderer.admit({ bytes }, type, { cleanedPath, keepMetadata });
  const stored = cleaned === null ? bytes : await readFile(cleanedPath);
  return Promise.all(
    [bytes, stored].map(async (source) => {
      const rendition = await renderer.render({ bytes: source }, type, { format: "png" });
      const { data, info } = await sharp(rendition.bytes)
        .ensureAlpha()
        .raw()
        .toBuffer({ resolveWithObject: true });
      expect(info).toMatchObject({ width, height });
      return data;
    }),
  );
}

// As Chromium shows them: test/fidelity compares each with it.
test.each([
  [
    "png",
    "nothing",
    [
      "iCCP wrong",
      "iCCP of another white",
      "iCCP after the pixels",
      "tRNS wrong",
      "eXIf wrong",
      "eXIf of a LONG",
    ],
  ],
  ["png", "lawful iCCP", ["iCCP wrong, then right"]],
  [
    "png",
    "lawful gAMA",
    ["iCCP wrong, gAMA", "iCCP damaged, gAMA", "sRGB wrong, gAMA", "sRGB of two bytes, gAMA"],
  ],
  ["png", "lawful gAMA", ["sRGB of no known intent, gAMA"]],
  ["png", "lawful eXIf", ["eXIf twice"]],
  [
    "jpeg",
    "nothing",
    ["profile without its second part", "profile with a part twice", "profile of two counts"],
  ],
  ["jpeg", "nothing", ["profile of no part", "profile cut", "profile of Lab", "orientation of a BYTE"]],
  ["jpeg", "nothing", ["orientation of a LONG", "two values of orientation", "orientation 1, then 6"]],
  ["jpeg", "lawful profile", ["profile in parts", "profile in parts out of order", "profile and another"]],
  ["jpeg", "lawful orientation", ["orientation 6, then 3"]],
] as const)("unlawful parts of a file of type %s have the effect of %s: %s", async (kind, like, names) => {
  const named = (name: string) => samples.get(`${kind}/unlawful: ${name}`) as Sample;
  const [expected = Buffer.alloc(0)] = await renderBoth(named(like), false);
  for (const name of names) {
    for (const keepMetadata of [false, true]) {
      for (const pixels of await renderBoth(named(name), keepMetadata)) {
        expect(pixels.equals(expected), `${name}, ${keepMetadata}`).toBe(true);
      }
    }
  }
});

test("a file that is repaired keeps its metadata where uploads do, and one that needs no repair stays as it is", async () => {
  const picture = sharp({ create: { width: 64, height: 64, channels: 3, background: "#c00" } });
  const described = picture.withExif({ IFD0: { Artist: "Ansel" } });
  const [jpeg, png] = [await described.clone().jpeg().toBuffer(), await described.clone().png().toBuffer()];
  const end = Buffer.of(0xff, 0xd9);
  const cleanedPath = () => join(directory, crypto.randomUUID());
  for (const [bytes, type] of [
    [jpeg.subarray(0, -end.length), "image/jpeg"],
    [png.subarray(0, -14), "image/png"],
  ] as const) {
    const path = cleanedPath();
    const { cleaned } = await renderer.admit({ bytes }, type, { cleanedPath: path, keepMetadata: true });
    expect(cleaned, type).not.toBeNull();
    const stored = await readFile(path);
    expect(stored.includes("Ansel"), type).toBe(true);
    expect((await renderer.render({ bytes: stored }, type, { format: "webp" })).bytes.length).toBeGreaterThan(
      0,
    );
  }
  // libjpeg warns of bytes before a restart marker.
  const { bytes: rows, endOfRow } = restartingJpeg(8, 8);
  const exif = Buffer.concat([Buffer.from("Exif\0\0"), exifBlock(1)]);
  const warned = Buffer.concat([
    rows.subarray(0, 2),
    Buffer.of(0xff, 0xe1, 0, exif.length + 2),
    exif,
    rows.subarray(2, endOfRow[3]),
    Buffer.alloc(8),
    rows.subarray(endOfRow[3]),
  ]);
  await expect(sharp(warned, { failOn: "warning" }).raw().toBuffer()).rejects.toThrow("extraneous bytes");
  const kept = { cleanedPath: cleanedPath(), keepMetadata: true };
  expect(await renderer.admit({ bytes: warned }, "image/jpeg", kept)).toMatchObject({ cleaned: null });
});

test("parts of an animation stay whatever their checksums, in the stored file and in renditions", async () => {
  const spoilt = Buffer.from(animatedPng(64));
  for (const type of ["acTL", "fcTL", "fdAT"]) {
    const at = spoilt.indexOf(type);
    const last = at + 4 + spoilt.readUInt32BE(at - 4) + 3;
    spoilt.writeUInt8(spoilt.readUInt8(last) ^ 1, last);
  }
  expect(asBrowsersRead(spoilt, "image/png")).toBe(spoilt);
  const kept = { cleanedPath: join(directory, crypto.randomUUID()) };
  expect(await renderer.admit({ bytes: spoilt }, "image/png", kept)).toMatchObject({
    pages: 2,
    cleaned: null,
  });
});

test("lawful parts have effects that differ from each other", async () => {
  for (const [kind, effects] of [
    ["png", ["nothing", "lawful iCCP", "lawful gAMA", "lawful eXIf"]],
    ["jpeg", ["nothing", "lawful profile", "lawful orientation"]],
  ] as const) {
    const seen = new Set<string>();
    for (const name of effects) {
      const [pixels] = await renderBoth(samples.get(`${kind}/unlawful: ${name}`) as Sample, false);
      seen.add(pixels?.toString("latin1") ?? "");
    }
    expect(seen.size).toBe(effects.length);
  }
});
