import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { decodeSvgText, MAX_SVG_BYTES } from "./decode-svg-text.ts";

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><title>Grüße, 中</title></svg>';
const declared = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?>`;

test.each<[title: string, bytes: Buffer, text: string]>([
  ["UTF-8", Buffer.from(svg), svg],
  ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${svg}`), svg],
  ["UTF-8 that is declared", Buffer.from(declared("utf-8") + svg), declared("utf-8") + svg],
  ["UTF-8 that is declared as UTF-16", Buffer.from(declared("UTF-16") + svg), declared("UTF-16") + svg],
  ["UTF-16 little endian", Buffer.from(`\ufeff${svg}`, "utf16le"), svg],
  ["UTF-16 big endian", Buffer.from(`\ufeff${svg}`, "utf16le").swap16(), svg],
  ["UTF-16 little endian without a mark", Buffer.from(svg, "utf16le"), svg],
  ["UTF-16 big endian without a mark", Buffer.from(svg, "utf16le").swap16(), svg],
  [
    "Latin-1",
    Buffer.from(`${declared("ISO-8859-1")}<svg>ü</svg>`, "latin1"),
    `${declared("ISO-8859-1")}<svg>ü</svg>`,
  ],
  [
    "Shift JIS",
    Buffer.concat([Buffer.from(declared("Shift_JIS")), Buffer.from("93fa967b", "hex")]),
    `${declared("Shift_JIS")}日本`,
  ],
  [
    "Windows-1251",
    Buffer.concat([Buffer.from(declared("windows-1251")), Buffer.of(0xcf)]),
    `${declared("windows-1251")}П`,
  ],
  [
    "an encoding of nowhere as UTF-8",
    Buffer.from(`${declared("x-klingon")}ü+ADw-`),
    `${declared("x-klingon")}ü+ADw-`,
  ],
  ["UTF-7 as UTF-8", Buffer.from(`${declared("utf-7")}+ADw-`), `${declared("utf-7")}+ADw-`],
  ["gzip", gzipSync(svg), svg],
  ["gzip of UTF-16", gzipSync(Buffer.from(`\ufeff${svg}`, "utf16le")), svg],
])("decodeSvgText reads %s", (_, bytes, text) => {
  expect(decodeSvgText(bytes)).toBe(text);
});

test.each<[title: string, bytes: Buffer, clause: string]>([
  ["nothing", Buffer.alloc(0), "it is empty"],
  ["gzip of nothing", gzipSync(""), "it is empty"],
  ["bytes that are not UTF-8", Buffer.from([0x3c, 0xff, 0xff]), "its text is not UTF-8"],
  ["half a character of UTF-16", Buffer.from([0xff, 0xfe, 0x3c]), "its text is not UTF-16LE"],
  ["half of a pair of UTF-16", Buffer.from("\ufeff\ud800", "utf16le"), "its text is not UTF-16LE"],
  [
    "bytes that are not UTF-8 in an encoding of nowhere",
    Buffer.concat([Buffer.from(declared("x-klingon")), Buffer.of(0xff)]),
    "its text is not UTF-8",
  ],
  ["damaged gzip", gzipSync(svg).subarray(0, 30), "its compression is damaged"],
  ["gzip of other bytes", Buffer.from("1f8b08000000", "hex"), "its compression is damaged"],
  ["more than there may be", Buffer.alloc(MAX_SVG_BYTES + 1, " "), "it is more than 10 MB of text"],
])("decodeSvgText refuses %s", (_, bytes, clause) => {
  expect(() => decodeSvgText(bytes)).toThrow(
    expect.objectContaining({
      code: "unsupported_media",
      message: `This cannot be read as image/svg+xml: ${clause}.`,
    }),
  );
});

test("decodeSvgText refuses a gzip bomb without unpacking it", () => {
  const bomb = gzipSync(Buffer.alloc(60_000_000, " "));
  const before = process.memoryUsage().external;
  expect(() => decodeSvgText(bomb)).toThrow("it is more than 10 MB of text");
  expect(process.memoryUsage().external - before).toBeLessThan(50_000_000);
});
