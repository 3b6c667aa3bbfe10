import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { HEAD_BYTES, pictureTypeOf } from "./picture-type.ts";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';

it.each<[string, string | Buffer]>([
  ["image/png", Buffer.from("89504e470d0a1a0a0000", "hex")],
  ["image/jpeg", Buffer.from("ffd8ffe0", "hex")],
  ["image/gif", "GIF89a…"],
  ["image/gif", "GIF87a…"],
  ["image/x-photoshop", "8BPS\0\x01"],
  ["application/pdf", "%PDF-1.7"],
  ["application/pdf", `${"junk ".repeat(100)}%PDF-1.4`],
  ["image/svg+xml", SVG],
  ["image/svg+xml", `\ufeff<?xml version="1.0"?>\n<!-- made by hand -->\n<!DOCTYPE svg>\n${SVG}`],
  ["image/svg+xml", "<s:svg xmlns:s='http://www.w3.org/2000/svg'/>"],
  ["image/svg+xml", Buffer.from(`\ufeff${SVG}`, "utf16le")],
  ["image/svg+xml", Buffer.from(SVG, "utf16le").swap16()],
  ["image/svg+xml", `<!--${" licence".repeat(HEAD_BYTES)}`.slice(0, HEAD_BYTES)],
])("pictureTypeOf recognizes %s by its first bytes", (type, head) => {
  expect(pictureTypeOf(Buffer.from(head), "file")).toBe(type);
});

it.each<[string, string | Buffer]>([
  ["text", "hello, world"],
  ["nothing", ""],
  ["WebP", "RIFF\x24\0\0\0WEBPVP8 "],
  ["a web page", "<!doctype html><html><body><svg></svg></body></html>"],
  ["other XML", '<?xml version="1.0"?><rss version="2.0"><channel/></rss>'],
  ["text about PDF", `${"x".repeat(2000)}%PDF-1.4`],
  ["a PSB document", "8BPS\0\x03"],
])("pictureTypeOf returns null for %s", (_, head) => {
  expect(pictureTypeOf(Buffer.from(head), "file.png")).toBeNull();
});

it("pictureTypeOf treats compressed data as SVG only with the suffix .svg or .svgz", () => {
  const head = gzipSync(SVG);
  expect(pictureTypeOf(head, "drawing.svgz")).toBe("image/svg+xml");
  expect(pictureTypeOf(head, "archive.tar.gz")).toBeNull();
});
