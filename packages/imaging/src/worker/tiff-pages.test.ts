import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TiffPage, tiffOf } from "../../../../test/support/tiff-files.ts";

const renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-tiff-"));
});
afterAll(async () => {
  await renderer.close();
  await rm(directory, { recursive: true });
});

/** Converts a TIFF. @returns the size and level of what is stored, and its warnings. */
async function convert(bytes: Buffer) {
  const cleanedPath = join(directory, crypto.randomUUID());
  const { width, warnings = [] } = await renderer.admit({ bytes }, "image/tiff", { cleanedPath });
  const pixels = await sharp(await readFile(cleanedPath))
    .raw()
    .toBuffer();
  return { width, level: pixels[0], warnings };
}

const [LONG, SHORT, BYTE, ASCII] = [4, 3, 1, 2];
const small = { width: 16, height: 12, level: 40 };
const thumbnail: TiffPage = { ...small, fields: { 254: [LONG, 1] } };
const oldThumbnail: TiffPage = { ...small, fields: { 255: [SHORT, 2] } };
const mask: TiffPage = { width: 400, height: 300, level: 255, fields: { 254: [LONG, 4] } };
const picture: TiffPage = { width: 400, height: 300, level: 200 };
const isPicture = { width: 400, level: 200, warnings: [] as string[] };
const forms = (["II", "MM"] as const).flatMap((order) => [false, true].map((big) => ({ order, big })));

test.each(forms)("the first page that is no thumbnail is the picture of a TIFF (%o)", async (form) => {
  for (const pages of [
    [thumbnail, picture],
    [oldThumbnail, picture],
    [{ ...thumbnail, fields: { 254: [LONG, 3] } } satisfies TiffPage, picture],
    [mask, thumbnail, picture, thumbnail],
    [picture, thumbnail],
    [{ ...picture, fields: { 254: [LONG, 0] } } satisfies TiffPage, mask],
    [{ ...picture, fields: { 254: [LONG, 2] } } satisfies TiffPage],
    [picture],
    // A pyramid.
    [{ ...picture, below: [thumbnail, thumbnail] }],
    // The picture lies below its thumbnail.
    [{ ...thumbnail, below: [picture] }],
    [{ ...thumbnail, below: [thumbnail, picture] }],
    [thumbnail, { ...thumbnail, below: [mask, picture] }],
  ]) {
    expect(await convert(tiffOf(pages, form)), JSON.stringify(pages)).toEqual(isPicture);
  }
  expect(await convert(tiffOf([thumbnail, picture, thumbnail, { ...picture, level: 9 }], form))).toEqual({
    ...isPicture,
    warnings: ["first_page_only"],
  });
});

test("a page is turned as it says itself", async () => {
  const turned = { ...picture, fields: { 274: [SHORT, 6] } } satisfies TiffPage;
  expect(await convert(tiffOf([thumbnail, turned]))).toEqual({ ...isPicture, width: 300 });
});

test("directories in a circle have an end", async () => {
  const bytes = tiffOf([thumbnail, picture]);
  const last = bytes.readUInt32LE(4) + 2 + 12 * bytes.readUInt16LE(bytes.readUInt32LE(4));
  const circle = Buffer.from(bytes);
  circle.writeUInt32LE(bytes.readUInt32LE(4), last);
  await expect(convert(circle)).rejects.toMatchObject({ code: "unsupported_media" });
});

test.each(forms)("a camera raw is refused by name, whatever else it holds (%o)", async (form) => {
  const sensor = { ...picture, fields: { 262: [SHORT, 32803] } } satisfies TiffPage;
  for (const pages of [
    [{ ...thumbnail, below: [sensor] }],
    [{ ...small, below: [picture, sensor] }],
    [small, sensor],
    [sensor],
    [{ ...thumbnail, below: [{ ...picture, fields: { 262: [SHORT, 34892] } }] }],
    [{ ...picture, fields: { 50706: [BYTE, 1, 4, 0, 0] } }],
    ...[32767, 32769, 32770, 34713, 65000, 65535].map((compression) => [
      { ...small, below: [{ ...picture, fields: { 259: [SHORT, compression] } }] },
    ]),
    [thumbnail],
    [thumbnail, { ...thumbnail, below: [thumbnail] }],
  ] satisfies TiffPage[][]) {
    await expect(convert(tiffOf(pages, form)), JSON.stringify(pages)).rejects.toMatchObject({
      code: "unsupported_media",
      message: expect.stringMatching(/camera raw photo/),
    });
  }
});

test("camera, place, author or date in the fields of a TIFF have a warning", async () => {
  const text = [ASCII, ...Buffer.from("A. Painter\0")] as const;
  for (const tag of [271, 272, 306, 315, 33432]) {
    const page = { ...picture, fields: { [tag]: text } } satisfies TiffPage;
    expect(await convert(tiffOf([page])), `${tag}`).toEqual({ ...isPicture, warnings: ["metadata_removed"] });
  }
});
