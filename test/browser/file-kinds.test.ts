import "../../packages/web/test/english.ts";
import { expect, test } from "vitest";
import {
  kindOf,
  kindOfBytes,
  labelOf,
  readKind,
  refusalOf,
  sentType,
} from "../../packages/web/browser/upload/file-kinds.ts";

test.each([
  ["a.PSD", "", "PSD"],
  ["a.psd", "application/octet-stream", "PSD"],
  ["a", "image/png", "PNG"],
  ["a.jfif", "", "JPEG"],
  ["a.svg", "IMAGE/SVG+XML", "SVG"],
  ["a.webp", "image/webp", "WebP"],
  ["a.HEIF", "", "HEIC"],
  ["a.bmp", "image/bmp", null],
  ["png", "", null],
])("the file %s of type %j is recognised as %s", (name, type, label) => {
  expect(labelOf(kindOf({ name, type }))).toBe(label);
});

test.each([
  ["\x89PNG\r\n\x1a\n", "PNG"],
  ["\xff\xd8\xff\xe0", "JPEG"],
  ["GIF89a", "GIF"],
  ["8BPS\0\x01", "PSD"],
  ["%PDF-1.7", "PDF"],
  ["RIFF\x10\0\0\0WEBPVP8 ", "WebP"],
  ["RIFF\x10\0\0\0WAVEfmt ", null],
  ["\0\0\0\x20ftypavif", "AVIF"],
  ["\0\0\0\x20ftypheic", "HEIC"],
  ["\0\0\0\x20ftypisom", null],
  ["II*\0\x08\0\0\0", "TIFF"],
  ["<svg xmlns=", null],
  ["\xff\xd8", null],
  ["", null],
])("a file that starts with %j is recognised as %s", (start, label) => {
  expect(labelOf(kindOfBytes(new Uint8Array(Buffer.from(start, "latin1"))))).toBe(label);
});

test("the bytes decide about the kind, then the type and the name; the type is left to the server, except for SVG, which may be compressed", async () => {
  const kindIn = (name: string, bytes: string) => readKind(new File([bytes], name));
  expect(labelOf(await kindIn("photo.webp", "GIF89a"))).toBe("GIF");
  const typeOf = async (name: string) => {
    const kind = await kindIn(name, "");
    return kind === null ? null : sentType(kind);
  };
  expect(await typeOf("a.png")).toBe("application/octet-stream");
  expect(await typeOf("a.svgz")).toBe("image/svg+xml");
});

test("a refusal names the kind of the file, those that the service accepts, or the limit of its size", () => {
  const terms = { types: ["image/png", "image/webp"], maxUploadBytes: 1000 };
  for (const [name, type, size, message] of [
    ["a", "video/mp4", 1, /^Videos can’t be uploaded here/],
    ["a.MOV", "", 1, /^Videos can’t be uploaded here/],
    ["a.txt", "text/plain", 1, /isn’t supported\. Use PNG or WebP\.$/],
    ["a.avif", "image/avif", 1, /isn’t supported\. Use PNG or WebP\.$/],
    ["a.png", "image/png", 1001, /too large/],
  ] as const)
    expect(refusalOf({ name, type, size }, kindOf({ name, type }), terms)).toMatch(message);
  const png = { name: "a.png", type: "image/png" };
  expect(refusalOf({ ...png, size: 1000 }, kindOf(png), terms)).toBeNull();
});
