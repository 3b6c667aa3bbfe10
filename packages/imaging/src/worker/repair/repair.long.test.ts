import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImageFormat, OriginalType } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gifOf, pngChunk, pngOf, restartingJpeg } from "../../../../../test/support/raster-files.ts";
import { photo } from "../../../test/pictures.ts";

const EOI = Buffer.of(0xff, 0xd9);
const FORMATS: readonly ImageFormat[] = ["png", "jpg", "gif", "webp", "avif", "svg", "psd", "pdf"];
const renderer = createRenderer();
let directory: string;
let jpegs: Record<string, Buffer>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "repair-"));
  const source = sharp(await photo(160, 240));
  // A fifth of the rows is plain at the bottom, as missing rows are.
  const bordered = await source.extend({ bottom: 60, background: "#fff" }).png().toBuffer();
  jpegs = {
    "4:2:0": await sharp(bordered).jpeg().toBuffer(),
    "4:4:4": await sharp(bordered).jpeg({ chromaSubsampling: "4:4:4" }).toBuffer(),
    grey: await sharp(bordered).greyscale().jpeg().toBuffer(),
    CMYK: await sharp(bordered).toColourspace("cmyk").jpeg().toBuffer(),
    progressive: await sharp(bordered).jpeg({ progressive: true }).toBuffer(),
  };
});
afterAll(() => Promise.all([renderer.close(), rm(directory, { recursive: true })]));

let uploads = 0;

/** The stored bytes of an upload; a text with the reason where it is refused. */
async function store(bytes: Buffer, type: OriginalType, keepMetadata = false): Promise<Buffer | string> {
  const cleanedPath = join(directory, `${uploads++}`);
  try {
    const { cleaned } = await renderer.admit({ bytes }, type, { cleanedPath, keepMetadata });
    return cleaned === null ? bytes : await readFile(cleanedPath);
  } catch (error) {
    return String(error);
  }
}

async function stored(bytes: Buffer, type: OriginalType, keepMetadata = false): Promise<Buffer> {
  const result = await store(bytes, type, keepMetadata);
  if (typeof result === "string") throw new Error(result);
  return result;
}

/** The percentage of rows that the refusal of an upload says are missing. */
async function missingRows(bytes: Buffer, type: OriginalType): Promise<number> {
  const refusal = await store(bytes, type);
  const percent = / incomplete: (\d+) % of its rows are missing\.$/.exec(String(refusal));
  return percent === null ? Number.NaN : Number(percent[1]);
}

/** `bytes` cut so far before the end of its only scan that about `share` of the rows came. */
async function cutJpeg(bytes: Buffer, share: number): Promise<{ cut: Buffer; rows: number }> {
  const whole = await rawOf(bytes);
  let [low, high] = [0, bytes.length];
  for (;;) {
    const middle = (low + high) >> 1;
    const cut = bytes.subarray(0, middle);
    const rows = await sameRows(cut, whole);
    if (high - low < 2 || Math.abs(rows / whole.height - share) < 0.02) return { cut, rows };
    if (rows / whole.height < share) low = middle;
    else high = middle;
  }
}

interface Raw {
  data: Buffer;
  height: number;
}

async function rawOf(bytes: Buffer): Promise<Raw> {
  const { data, info } = await sharp(bytes, { failOn: "none" }).raw().toBuffer({ resolveWithObject: true });
  return { data, height: info.height };
}

/** Rows of a cut JPEG that are as in the whole one. */
async function sameRows(cut: Buffer, whole: Raw): Promise<number> {
  const { data } = await rawOf(cut).catch(() => ({ data: Buffer.alloc(0) }));
  const rowBytes = whole.data.length / whole.height;
  for (let row = 0; row < whole.height; row++) {
    const range = [row * rowBytes, (row + 1) * rowBytes] as const;
    if (!data.subarray(...range).equals(whole.data.subarray(...range))) return row;
  }
  return whole.height;
}

async function expectInAllFormats(bytes: Buffer, type: OriginalType): Promise<void> {
  for (const format of FORMATS) {
    const { bytes: rendition } = await renderer.render({ bytes }, type, { format });
    expect(rendition.length, format).toBeGreaterThan(50);
  }
}

describe("a JPEG", () => {
  test.each(["4:2:0", "4:4:4", "grey", "CMYK"])("%s without its EOI is stored with one", async (kind) => {
    const whole = jpegs[kind] ?? EOI;
    const bytes = await stored(whole.subarray(0, -2), "image/jpeg");
    expect(bytes.subarray(-2)).toEqual(EOI);
    expect((await rawOf(bytes)).data).toEqual((await rawOf(whole)).data);
    await expectInAllFormats(bytes, "image/jpeg");
  });

  test.each(["4:2:0", "4:4:4", "grey", "CMYK"])(
    "%s with 70 % of its rows is refused with the share that is missing, also if it ends in an EOI",
    async (kind) => {
      const { cut, rows } = await cutJpeg(jpegs[kind] ?? EOI, 0.7);
      const missing = 100 - (100 * rows) / 300;
      expect(Math.abs((await missingRows(cut, "image/jpeg")) - missing)).toBeLessThan(8);
      expect(Math.abs((await missingRows(Buffer.concat([cut, EOI]), "image/jpeg")) - missing)).toBeLessThan(
        8,
      );
    },
  );

  test("of a plain colour with all but its last rows is taken, and with half of them refused", async () => {
    const create = { width: 160, height: 800, channels: 3, background: "#fff" } as const;
    const plain = await sharp({ create }).jpeg().toBuffer();
    expect(await stored(plain, "image/jpeg")).toEqual(plain);
    const scan = plain.indexOf(Buffer.of(0xff, 0xda)) + 14;
    const cut = (share: number) => plain.subarray(0, scan + Math.round((plain.length - 2 - scan) * share));
    await expectInAllFormats(await stored(cut(0.95), "image/jpeg"), "image/jpeg");
    expect(await missingRows(cut(0.5), "image/jpeg")).toBeGreaterThan(45);
    expect(await missingRows(cut(0.85), "image/jpeg")).toBeLessThan(20);
  });

  test("progressive is taken while only last bits of coefficients are missing, and refused earlier", async () => {
    const whole = jpegs.progressive ?? EOI;
    for (const share of [0.85, 0.91, 0.95, 0.99]) {
      const bytes = await stored(whole.subarray(0, whole.length * share), "image/jpeg");
      await expectInAllFormats(bytes, "image/jpeg");
    }
    for (const share of [0.1, 0.3, 0.5]) {
      expect(await store(whole.subarray(0, whole.length * share), "image/jpeg")).toMatch(/incomplete: /);
    }
  });

  test.each([
    [40, 38, "within the row"],
    [40, 30, "within the row"],
    [40, 37, "at a restart marker"],
    [40, 20, "at a restart marker"],
  ])("of %i restart intervals that ends after %i, %s, is judged by its rows", async (rows, came, place) => {
    const { bytes, endOfRow } = restartingJpeg(12, rows);
    expect(await stored(bytes, "image/jpeg")).toEqual(bytes);
    const cut = bytes.subarray(0, (endOfRow[came - 1] ?? 0) + (place === "within the row" ? 8 : 0));
    if (came >= rows * 0.9) await stored(cut, "image/jpeg");
    else expect(await missingRows(cut, "image/jpeg")).toBe(Math.ceil(100 - (100 * came) / rows));
  });

  test("with start-of-scan parameters of zero, as some cameras write, is stored unchanged", async () => {
    const bytes = Buffer.from(jpegs["4:2:0"] ?? EOI);
    const scan = bytes.indexOf(Buffer.of(0xff, 0xda)) + 2;
    const end = scan + bytes.readUInt16BE(scan);
    bytes.fill(0, end - 3, end);
    expect(await stored(bytes, "image/jpeg")).toEqual(bytes);
    await expectInAllFormats(bytes, "image/jpeg");
  });

  test("with bytes before a marker is taken, and all its pixels are drawn", async () => {
    const whole = jpegs["4:2:0"] ?? EOI;
    const scan = whole.indexOf(Buffer.of(0xff, 0xda));
    const bytes = Buffer.concat([whole.subarray(0, scan), Buffer.alloc(5, 3), whole.subarray(scan)]);
    const kept = await stored(bytes, "image/jpeg", true);
    expect(kept).toEqual(bytes);
    await expectInAllFormats(kept, "image/jpeg");
    expect((await rawOf(await stored(bytes, "image/jpeg"))).data).toEqual((await rawOf(whole)).data);
  });

  test("without its EOI is completed also where metadata is kept", async () => {
    const whole = jpegs.grey ?? EOI;
    expect(await stored(whole.subarray(0, -2), "image/jpeg", true)).toEqual(whole);
  });
});

describe("a PNG", () => {
  const png = pngOf({ size: 200 });
  const raw = () => sharp(png).raw().toBuffer();

  test.each<[string, (compressed: Buffer) => Buffer[]]>([
    ["a wrong checksum of a chunk", (data) => [spoilt(pngChunk("IDAT", data))]],
    ["a wrong checksum of its stream", (data) => [pngChunk("IDAT", spoilt(data))]],
    ["no checksum of its stream", (data) => [pngChunk("IDAT", data.subarray(0, -4))]],
  ])("with %s is stored with right ones", async (_, data) => {
    const bytes = await stored(pngOf({ size: 200, data }), "image/png", true);
    expect(await sharp(bytes, { failOn: "warning" }).raw().toBuffer()).toEqual(await raw());
    await expectInAllFormats(bytes, "image/png");
  });

  test("without IEND, or with bytes after it, is taken", async () => {
    for (const bytes of [png.subarray(0, -12), Buffer.concat([png, Buffer.from("more")])]) {
      const taken = sharp(await stored(bytes, "image/png"));
      expect(await taken.raw().toBuffer()).toEqual(await raw());
    }
  });

  test.each([false, true])("interlaced: %s, is judged by its rows when it is cut", async (progressive) => {
    const source = sharp(await photo(200, 200));
    const whole = await source.png({ progressive }).toBuffer();
    const taken = await stored(whole.subarray(0, whole.length * 0.97), "image/png");
    const [before, after] = [await sharp(whole).raw().toBuffer(), await sharp(taken).raw().toBuffer()];
    expect(after.subarray(0, 200 * 3 * 180)).toEqual(before.subarray(0, 200 * 3 * 180));
    await expectInAllFormats(taken, "image/png");
    expect(await missingRows(whole.subarray(0, whole.length * 0.7), "image/png")).toBeGreaterThan(20);
    expect(await missingRows(whole.subarray(0, whole.length * 0.5), "image/png")).toBeGreaterThan(45);
  });

  test("keeps its orientation and transparency when it is repaired", async () => {
    const file = await sharp(await photo(60, 40))
      .ensureAlpha(0.5)
      .withMetadata({ orientation: 6 })
      .png()
      .toBuffer();
    const bytes = await stored(file.subarray(0, -20), "image/png");
    expect(await sharp(bytes).metadata()).toMatchObject({ orientation: 6, channels: 4 });
  });

  test("whose pixels contradict both checksums is refused with that reason", async () => {
    const bytes = await photo(200, 200);
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 0x10, bytes.length >> 1);
    expect(await store(bytes, "image/png")).toMatch(
      /(?:the checksums of its pixels are wrong|of its rows are missing)/,
    );
  });

  test("of a billion pixels in a truncated file is refused before it is inflated", async () => {
    const bytes = Buffer.from(png);
    bytes.writeUInt32BE(60_000, 16);
    bytes.writeUInt32BE(60_000, 20);
    expect(await store(bytes.subarray(0, -40), "image/png")).toMatch(/megapixels|damaged/);
  });
});

describe("a GIF", () => {
  const whole = gifOf(40, 40, [
    { width: 40, height: 40, pixels: 2 },
    { width: 40, height: 40, pixels: 1 },
  ]);
  const pagesOf = async (bytes: Buffer) => (await sharp(bytes, { animated: true }).metadata()).pages;

  test("without its trailer, or that ends in or after the control of a next frame, keeps its whole frames", async () => {
    expect(await pagesOf(await stored(whole.subarray(0, -1), "image/gif"))).toBe(2);
    const next = whole.lastIndexOf(Buffer.of(0x21, 0xf9));
    for (const length of [next, next + 4, next + 8]) {
      const bytes = await stored(whole.subarray(0, length), "image/gif");
      expect([length, await pagesOf(bytes)]).toEqual([length, 1]);
    }
  });

  test("whose last frame lacks a few rows keeps it, and is refused if it lacks more than a tenth", async () => {
    const bytes = await stored(whole.subarray(0, -30), "image/gif");
    expect(await pagesOf(bytes)).toBe(2);
    await expectInAllFormats(bytes, "image/gif");
    for (const length of [whole.lastIndexOf(Buffer.of(0x21, 0xf9)) + 12, whole.length - 300]) {
      expect(await store(whole.subarray(0, length), "image/gif")).toMatch(
        /incomplete: \d+ % of the rows of frame 2 are missing\.$/,
      );
    }
  });

  test("with an invalid code in its last row is taken, and with one in the middle refused", async () => {
    const still = gifOf(40, 40, [{ width: 40, height: 40, pixels: 2 }]);
    const spoil = (fromEnd: number) => {
      const bytes = Buffer.from(still);
      bytes.fill(0xff, bytes.length - fromEnd, bytes.length - fromEnd + 3);
      return bytes;
    };
    await expectInAllFormats(await stored(spoil(20), "image/gif"), "image/gif");
    expect(await store(spoil(400), "image/gif")).toMatch(
      /incomplete: \d+ % of the rows of frame 1 are missing/,
    );
  });

  test("with frames of no size is taken", async () => {
    const bytes = gifOf(20, 20, [
      { width: 20, height: 20, pixels: 1 },
      { width: 0, height: 0, pixels: [] },
    ]);
    await expectInAllFormats(await stored(bytes, "image/gif"), "image/gif");
  });
});

/** `bytes` with a wrong last byte. */
function spoilt(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 0xff, copy.length - 1);
  return copy;
}
