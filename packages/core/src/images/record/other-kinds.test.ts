import { expect, test } from "vitest";
import { adviceFor, nameOtherKind } from "./other-kinds.ts";

test("files that are no picture of ours are named by their first bytes", () => {
  const ftyp = (brand: string) => `\0\0\0\x18ftyp${brand}\0\0\0\0`;
  for (const [start, kind] of [
    [ftyp("heic"), "a HEIC photo"],
    [ftyp("heix"), "a HEIC photo"],
    [ftyp("mif1"), "a HEIC photo"],
    [ftyp("avif"), "an AVIF picture"],
    [ftyp("crx "), "a camera raw photo"],
    ["\0\0\0\x1cftypmif1\0\0\0\0miafavif", "an AVIF picture"],
    ["\0\0\0\x14ftypmif1\0\0\0\0miaf\0\0\0\x08avif", "a HEIC photo"],
    ["II*\0\x10\0\0\0CR\x02\0", "a camera raw photo"],
    ["II*\0\x10\0\0\0CRAB", "a TIFF picture"],
    ["II*\0\x08\x10\0\0IIIITwaR", "a camera raw photo"],
    ["MM\0*\0\x10\0\0MMMMRawT", "a camera raw photo"],
    ["II\x1a\0\0\0HEAPCCDR", "a camera raw photo"],
    ["IIRO\x08\0\0\0", "a camera raw photo"],
    ["MMOR\0\0\0\x08", "a camera raw photo"],
    ["IIU\0\x18\0\0\0", "a camera raw photo"],
    ["FUJIFILMCCD-RAW 0201", "a camera raw photo"],
    ["FOVb\x02\0\x02\0", "a camera raw photo"],
    ["\0MRM\0\x01\0\0", "a camera raw photo"],
    ["MM\0*\0\0\0\x08\0\x01\xc6\x12\0\x01\0\0\0\x04\x01\x06\0\0", "a camera raw photo"],
    ["II*\0\x08\0\0\0\x01\0\x06\x01\x03\0\x01\0\0\0\x23\x80\0\0", "a camera raw photo"],
    ["II*\0\x08\0\0\0\x01\0\x06\x01\x03\0\x01\0\0\0\x02\0\0\0", "a TIFF picture"],
    [ftyp("isom"), "an MP4 video"],
    [ftyp("qt  "), "a MOV video"],
    ["\0\0\0\x08wide", "a MOV video"],
    [ftyp("M4A "), "a sound file"],
    ["RIFF\x10\0\0\0WEBPVP8 ", "a WebP picture"],
    ["RIFF\x10\0\0\0AVI LIST", "an AVI video"],
    ["II*\0\x08\0\0\0", "a TIFF picture"],
    ["MM\0*\0\0\0\x08", "a TIFF picture"],
    ["BM\x36\x10\0\0\0\0\0\0\x36", "a BMP picture"],
    ["\0\0\x01\0\x01\0\x10\x10", "an ICO icon"],
    ["\xff\x0a\xfa", "a JPEG XL picture"],
    ["\0\0\0\x0cJXL \r\n\x87\n", "a JPEG XL picture"],
    ["\0\0\0\x0cjP  \r\n\x87\n", "a JPEG 2000 picture"],
    ["\x1a\x45\xdf\xa3", "a WebM video"],
    ["PK\x03\x04", "a ZIP archive or an office document"],
    ["%!PS-Adobe-3.0", "a PostScript file"],
    ["\n<!-- saved -->\n<!DOCTYPE html>", "a web page"],
    ["<html>", "a web page"],
    ["<htmlx>", null],
    ["BMW", null],
    ["plain text", null],
    ["", null],
  ] as const) {
    expect(nameOtherKind(Buffer.from(start, "latin1")), JSON.stringify(start)).toBe(kind);
  }
});

test("each kind has its advice", () => {
  expect(adviceFor("a HEIC photo")).toMatch(/Most Compatible/);
  expect(adviceFor("a camera raw photo")).toBe("convert it to PNG or JPEG first");
  expect(adviceFor("an MP4 video")).toBe("videos can't be uploaded here");
  expect(adviceFor("a sound file")).toBe("sounds can't be uploaded here");
  expect(adviceFor("a web page")).toBe("choose the picture itself");
  expect(adviceFor("an archive")).toBe("choose the pictures one by one");
});
