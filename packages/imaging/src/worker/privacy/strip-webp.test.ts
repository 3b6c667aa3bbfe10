import sharp from "sharp";
import { expect, test } from "vitest";
import { animation, CORNERS } from "../../../test/pictures.ts";
import { stripRaster, stripWebp } from "./strip-raster.ts";

const SECRET = "Canary-WEBP";
const plain = () => sharp({ create: { width: 9, height: 7, channels: 4, background: "#e33a" } });

function chunk(type: string, data: Buffer): Buffer {
  const header = Buffer.from(`${type}\0\0\0\0`, "latin1");
  header.writeUInt32LE(data.length, 4);
  return Buffer.concat([header, data, Buffer.alloc(data.length % 2)]);
}

/** The file with `more` behind its last chunk, which its header counts. */
function withChunks(webp: Buffer, ...more: Buffer[]): Buffer {
  const file = Buffer.concat([webp, ...more]);
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}

async function shown(webp: Buffer) {
  const { orientation, icc, pages, delay, loop } = await sharp(webp, { animated: true }).metadata();
  return {
    orientation,
    icc,
    pages,
    delay,
    loop,
    pixels: await sharp(webp, { animated: true }).raw().toBuffer(),
  };
}

test("stripWebp removes EXIF, XMP, unknown chunks and data after the end, and keeps pixels, profile and orientation", async () => {
  for (const orientation of [1, 6]) {
    const described = await plain()
      .withIccProfile("p3")
      .withMetadata({ orientation })
      .withExifMerge({ IFD0: { Make: SECRET }, IFD3: { GPSLatitudeRef: "N" } })
      .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${SECRET}</x:xmpmeta>`)
      .webp()
      .toBuffer();
    const trailed = Buffer.concat([
      withChunks(described, chunk("ABCD", Buffer.from(SECRET))),
      Buffer.from(SECRET),
    ]);
    expect(trailed.toString("latin1").split(SECRET).length).toBeGreaterThan(4);
    const stripped = stripWebp(trailed);
    expect(stripped.includes(SECRET)).toBe(false);
    expect(stripped.readUInt32LE(4)).toBe(stripped.length - 8);
    const { exif, xmp, orientation: kept } = await sharp(stripped).metadata();
    expect([exif === undefined, xmp, kept ?? 1]).toEqual([orientation === 1, undefined, orientation]);
    expect(await shown(stripped)).toEqual({ ...(await shown(described)), orientation: kept });
    expect(stripWebp(stripped)).toEqual(stripped);
  }
});

test("stripWebp keeps files without metadata byte for byte, and animations with their timing", async () => {
  const still = await plain().webp({ lossless: true }).toBuffer();
  expect(stripWebp(still)).toEqual(still);
  const animated = await sharp(await animation(16, 12, CORNERS, { delay: [50, 60, 70, 80], loop: 3 }), {
    animated: true,
  })
    .webp()
    .toBuffer();
  // Into the first frame, too.
  const at = animated.indexOf("ANMF");
  const length = animated.readUInt32LE(at + 4);
  const end = at + 8 + length + (length % 2);
  const frame = Buffer.concat([
    animated.subarray(at + 8, at + 8 + length),
    Buffer.alloc(length % 2),
    chunk("WXYZ", Buffer.from(SECRET)),
  ]);
  const described = withChunks(
    Buffer.concat([animated.subarray(0, at), chunk("ANMF", frame), animated.subarray(end)]),
  );
  const stripped = stripWebp(described);
  expect(stripped.includes(SECRET)).toBe(false);
  expect(await shown(stripped)).toEqual(await shown(animated));
});

test("stripWebp reads a file cut at any byte without an error, and stripRaster refuses what is no picture", async () => {
  const webp = await plain()
    .withExif({ IFD0: { Make: SECRET } })
    .webp()
    .toBuffer();
  for (let length = 12; length < webp.length; length++) {
    expect(stripWebp(webp.subarray(0, length)).length).toBeLessThanOrEqual(length + 1);
  }
  for (const bytes of [Buffer.alloc(0), webp.subarray(0, 11), Buffer.from("GIF89a"), Buffer.from("<svg/>")]) {
    expect(stripRaster(bytes)).toBeUndefined();
  }
});
