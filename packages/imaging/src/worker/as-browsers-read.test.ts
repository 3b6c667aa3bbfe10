import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sample } from "../../../../test/fidelity/samples/sample.ts";
import { unlawfulSamples } from "../../../../test/fidelity/samples/unlawful.ts";

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
