import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OriginalType } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pngChunk, pngOf } from "../../../../test/support/raster-files.ts";
import { admitInfo } from "../../test/admit-bytes.ts";
import { cornered, photo } from "../../test/pictures.ts";
import { unreadable } from "../../test/unreadable.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-damaged-"));
});
afterAll(async () => {
  await renderer.close();
  await rm(directory, { recursive: true });
});

/** What is stored of an upload, and what its admission says. */
async function stored(bytes: Buffer, type: OriginalType, keepMetadata = false) {
  const cleanedPath = join(directory, randomUUID());
  const admission = await renderer.admit({ bytes }, type, { cleanedPath, keepMetadata });
  return { admission, file: admission.cleaned === null ? bytes : await readFile(cleanedPath) };
}

const pixelsOf = (bytes: Buffer) => sharp(bytes, { failOn: "none" }).removeAlpha().raw().toBuffer();
const turned = sharp(cornered(60, 40), { raw: { width: 60, height: 40, channels: 3 } }).withMetadata({
  orientation: 6,
});

test.each([
  [
    "a JPEG",
    "image/jpeg",
    async () =>
      sharp(await photo(200, 300))
        .jpeg()
        .toBuffer(),
  ],
  [
    "a progressive JPEG",
    "image/jpeg",
    async () =>
      sharp(await photo(200, 300))
        .jpeg({ progressive: true })
        .toBuffer(),
  ],
  ["a PNG", "image/png", async () => photo(200, 300)],
] as const)(
  "%s that is cut is stored encoded again, with a warning and all rows that came",
  async (_, type, make) => {
    const whole = await make();
    for (const share of [0.97, 0.7]) {
      const cut = whole.subarray(0, whole.length * share);
      const { admission, file } = await stored(cut, type);
      expect(admission).toMatchObject({ width: 200, height: 300, warnings: ["damage_repaired"] });
      await sharp(file, { failOn: "warning" }).stats();
      // The upper half came in each of them, maybe without its last details.
      const halfOf = async (picture: Buffer) => (await pixelsOf(picture)).subarray(0, 200 * 150 * 3);
      const [before, after] = [await halfOf(whole), await halfOf(file)];
      const difference = before.reduce((sum, level, at) => sum + Math.abs(level - (after[at] ?? 0)), 0);
      expect(difference / before.length).toBeLessThan(16);
    }
  },
);

test("a JPEG without its end marker and a PNG with a wrong checksum over its pixels keep their pixels", async () => {
  const png = pngOf({ size: 60, data: (data) => [pngChunk("IDAT", data.subarray(0, -4))] });
  expect(await pixelsOf((await stored(png, "image/png")).file)).toEqual(await pixelsOf(pngOf({ size: 60 })));
  const jpeg = await sharp(cornered(64, 64), { raw: { width: 64, height: 64, channels: 3 } })
    .jpeg()
    .toBuffer();
  const { admission } = await stored(jpeg.subarray(0, -2), "image/jpeg");
  expect(admission.warnings).toEqual(["damage_repaired"]);
});

test("a damaged picture is stored upright, and keeps its metadata only where the host says so", async () => {
  const picture = turned
    .clone()
    .withExif({ IFD0: { Make: "Maker" } })
    .jpeg();
  const cut = (await picture.toBuffer()).subarray(0, -2);
  const plain = await stored(cut, "image/jpeg");
  expect(plain.admission).toMatchObject({ width: 40, height: 60 });
  expect((await sharp(plain.file).metadata()).exif).toBeUndefined();
  const { orientation, exif, width } = await sharp((await stored(cut, "image/jpeg", true)).file).metadata();
  expect([width, orientation ?? 1, exif?.includes("Maker")]).toEqual([40, 1, true]);
});

test.each([
  ["a PNG of a billion pixels", "image/png", 60_000],
  ["a PNG without a size", "image/png", 0],
] as const)("%s in a truncated file is refused", async (_, type, side) => {
  const bytes = Buffer.from(pngOf({ size: 60 }));
  bytes.writeUInt32BE(side, 16);
  bytes.writeUInt32BE(side, 20);
  await expect(admitInfo(renderer, { bytes: bytes.subarray(0, -40) }, type)).rejects.toMatchObject({
    code: "unsupported_media",
  });
});

test("a JPEG that is declared as PNG is refused even where it is cut", async () => {
  const jpeg = await turned.clone().jpeg().toBuffer();
  await expect(admitInfo(renderer, { bytes: jpeg }, "image/png")).rejects.toEqual(
    unreadable("image/png", "its bytes are jpeg"),
  );
});
