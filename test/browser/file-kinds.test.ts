import "../../packages/web/test/english.ts";
import { describe, expect, test } from "vitest";
import {
  kindOf,
  kindOfBytes,
  labelOf,
  readKind,
  refusalOf,
  sentType,
} from "../../packages/web/browser/upload/file-kinds.ts";

describe("checks of a file before its upload", () => {
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

  test("the page leaves the type to the server, except for SVG, which may be compressed", () => {
    const typeOf = (name: string) => {
      const kind = kindOf({ name, type: "" });
      return kind === null ? null : sentType(kind);
    };
    expect(typeOf("a.png")).toBe("application/octet-stream");
    expect(typeOf("a.svgz")).toBe("image/svg+xml");
  });

  test("a file of exactly the size limit is allowed, and one byte more is refused", () => {
    const kind = kindOf({ name: "a.png", type: "image/png" });
    const types = ["image/png"];
    expect(
      refusalOf({ name: "a.png", type: "image/png", size: 1000 }, kind, { types, maxUploadBytes: 1000 }),
    ).toBeNull();
    expect(
      refusalOf({ name: "a.png", type: "image/png", size: 1001 }, kind, { types, maxUploadBytes: 1000 }),
    ).toMatch(/too large/);
  });

  test.each([
    ["a", "video/mp4", /^Videos can’t be uploaded here/],
    ["a.MOV", "", /^Videos can’t be uploaded here/],
    ["a.txt", "text/plain", /isn’t supported\. Use PNG or WebP\.$/],
    ["a.avif", "image/avif", /isn’t supported\. Use PNG or WebP\.$/],
  ])(
    "the refusal of %s of type %j names its kind, or those that the service accepts",
    (name, type, message) => {
      const terms = { types: ["image/png", "image/webp"], maxUploadBytes: 9 };
      expect(refusalOf({ name, type, size: 1 }, kindOf({ name, type }), terms)).toMatch(message);
    },
  );

  test("the bytes decide about the kind, then the type and the name", async () => {
    const kindIn = async (name: string, bytes: string) => labelOf(await readKind(new File([bytes], name)));
    expect(await kindIn("photo.webp", "GIF89a")).toBe("GIF");
    expect(await kindIn("drawing.svg", "<svg/>")).toBe("SVG");
    expect(await kindIn("photo.webp", "RIFF....WEBP")).toBe("WebP");
  });
});
