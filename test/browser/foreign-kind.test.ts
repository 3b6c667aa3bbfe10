import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { convertedName } from "../../packages/web/browser/upload/intake/convert-file.ts";
import { HEAD_BYTES, readForeignKind } from "../../packages/web/browser/upload/intake/foreign-kind.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const picture = () => sharp({ create: { width: 8, height: 8, channels: 3, background: "#123456" } });

describe("kinds of files that the upload page converts", () => {
  test("WebP is recognised with its compression, also behind a colour profile", async () => {
    const lossy = await picture().webp().toBuffer();
    const lossless = await picture().webp({ lossless: true }).toBuffer();
    const profiled = await picture().withIccProfile("p3").webp({ lossless: true }).toBuffer();
    expect(readForeignKind(lossy)).toMatchObject({ label: "WebP", isLossless: false, isAnimated: false });
    expect(readForeignKind(lossless)).toMatchObject({ label: "WebP", isLossless: true });
    expect(readForeignKind(profiled.subarray(0, HEAD_BYTES))).toMatchObject({ isLossless: true });
  });

  test("the brands in the first box distinguish AVIF from HEIC", async () => {
    expect(readForeignKind(await picture().avif().toBuffer())).toMatchObject({
      label: "AVIF",
      isAnimated: false,
    });
    const brands = (major: string, ...others: string[]) =>
      bytes(`\0\0\0${String.fromCharCode(16 + 4 * others.length)}ftyp${major}\0\0\0\0${others.join("")}`);
    expect(readForeignKind(brands("avis", "avif"))).toMatchObject({ label: "AVIF", isAnimated: true });
    expect(readForeignKind(brands("mif1", "avif"))).toMatchObject({ label: "AVIF", isAnimated: false });
    expect(readForeignKind(brands("heic", "mif1"))).toMatchObject({ label: "HEIC", isAnimated: false });
    expect(readForeignKind(brands("mif1", "heic"))).toMatchObject({ label: "HEIC" });
    expect(readForeignKind(brands("isom", "mp42"))).toBeNull();
  });

  test("other files are not converted, even with a part of the signature", async () => {
    expect(readForeignKind(await picture().png().toBuffer())).toBeNull();
    expect(readForeignKind(await picture().jpeg().toBuffer())).toBeNull();
    for (const text of [
      "",
      "BM",
      "BM is the start of this plain text file",
      "RIFF",
      "RIFF\0\0\0\0WAVEfmt ",
      "\0\0\0\x18ftyp",
    ]) {
      expect(readForeignKind(bytes(text))).toBeNull();
    }
  });
});

describe("the name of a converted file", () => {
  test.each([
    ["photo.webp", "photo.jpg"],
    ["IMG_1.HEIC", "IMG_1.jpg"],
    ["really a webp.png", "really a webp.jpg"],
    ["v1.2", "v1.2.jpg"],
    ["photo", "photo.jpg"],
  ])("%s becomes %s", (name, expected) => {
    expect(convertedName(name, "image/jpeg")).toBe(expected);
  });

  test("a picture that becomes a PNG gets the ending png", () => {
    expect(convertedName("scan.bmp", "image/png")).toBe("scan.png");
  });
});
