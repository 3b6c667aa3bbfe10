import { describe, expect, test } from "vitest";
import type { ImageFormat, OriginalType } from "../../contracts/renderer.ts";
import { chooseRendition, parseReadParameters, type ReadParameters } from "./rendition-spec.ts";
import { isSpecName, specName } from "./spec-name.ts";

function parse(format: ImageFormat, values: Record<string, unknown>) {
  return parseReadParameters(format, (name) => values[name]);
}

describe("parseReadParameters", () => {
  test.each([
    ["800x600", { maxWidth: 800, maxHeight: 600 }],
    ["800x", { maxWidth: 800 }],
    ["x600", { maxHeight: 600 }],
    ["1x1", { maxWidth: 1, maxHeight: 1 }],
    ["8192x8192", { maxWidth: 8192, maxHeight: 8192 }],
    ["", {}],
    [null, {}],
  ])("reads resize=%s as its sides", (resize, expected) => {
    expect(parse("png", { resize })).toEqual(expected);
  });

  test.each([
    "x",
    "800",
    "0x10",
    "10x0",
    "8193x1",
    "-1x10",
    "1.5x2",
    "800X600",
    "1e3x",
    "99999999x",
    " 8x8",
    800,
    {},
  ])("throws bad_request for resize=%j", (resize) => {
    expect(() => parse("png", { resize })).toThrowError(expect.objectContaining({ code: "bad_request" }));
  });

  test("accepts four values of convert for jpg, and ignores convert for other formats", () => {
    for (const convert of ["low", "medium", "high", "max"])
      expect(parse("jpg", { convert })).toEqual({ quality: convert });
    for (const convert of ["best", "LOW", 5, true]) {
      expect(() => parse("jpg", { convert })).toThrowError(expect.objectContaining({ code: "bad_request" }));
      expect(parse("png", { convert })).toEqual({});
    }
  });

  test("accepts a page as digits or as a whole number from 1", () => {
    expect(parse("png", { page: "3" })).toEqual({ page: 3 });
    expect(parse("png", { page: 3 })).toEqual({ page: 3 });
    for (const page of ["0", "-1", "1.5", "x", 0, 1.5, true]) {
      expect(() => parse("png", { page })).toThrowError(expect.objectContaining({ code: "bad_request" }));
    }
  });
});

describe("chooseRendition", () => {
  const jpeg = {
    type: "image/jpeg" as OriginalType,
    width: 400,
    height: 300,
    pages: 1,
    size: 1,
  };
  const svg = {
    type: "image/svg+xml" as OriginalType,
    width: 400,
    height: 300,
    pages: 1,
    size: 1,
  };
  const pdf = {
    type: "application/pdf" as OriginalType,
    width: null,
    height: null,
    pages: 3,
    size: 1,
  };

  /** Chooses while the renderer cannot measure sizes. */
  const choose = (record: typeof jpeg | typeof pdf, format: ImageFormat, parameters: ReadParameters) =>
    chooseRendition(record, format, parameters, () => null);

  test("returns null, for the original, if neither type nor size changes", () => {
    expect(choose(jpeg, "jpg", {})).toBeNull();
    expect(choose(jpeg, "jpg", { maxWidth: 400 })).toBeNull();
    expect(choose(jpeg, "jpg", { maxWidth: 4000, maxHeight: 300 })).toBeNull();
    expect(choose(svg, "svg", { maxWidth: 400 })).toBeNull();
    expect(choose(pdf, "pdf", {})).toBeNull();
    expect(choose({ ...pdf, pages: 1 }, "pdf", { page: 1 })).toBeNull();
  });

  test("returns a single page of a PDF as PDF, and leaves out page 1 for other formats", () => {
    expect(choose(pdf, "pdf", { page: 1 })).toEqual({ format: "pdf", page: 1 });
    expect(choose(pdf, "pdf", { page: 3 })).toEqual({ format: "pdf", page: 3 });
    expect(choose(pdf, "png", { page: 1 })).toEqual({ format: "png" });
    expect(choose(pdf, "png", { page: 2 })).toEqual({ format: "png", page: 2 });
  });

  test("returns a quality for jpg only, high by default", () => {
    expect(choose(jpeg, "jpg", { quality: "low" })).toEqual({
      format: "jpg",
      quality: "low",
    });
    expect(choose(svg, "jpg", {})).toEqual({
      format: "jpg",
      quality: "high",
    });
    expect(choose(jpeg, "png", {})).toEqual({ format: "png" });
  });

  test("changes the size of a raster for a smaller box only, and of an SVG for any other box", () => {
    expect(choose(jpeg, "jpg", { maxHeight: 299 })).toEqual({
      format: "jpg",
      quality: "high",
      maxHeight: 299,
    });
    expect(choose(svg, "svg", { maxWidth: 800 })).toEqual({
      format: "svg",
      maxWidth: 800,
    });
  });

  test("returns the size that the renderer measures instead of the box", () => {
    const half = () => ({ width: 200, height: 150 });
    const asked = [{ maxWidth: 200 }, { maxWidth: 200, maxHeight: 8192 }, { maxHeight: 150 }];
    for (const box of asked) {
      expect(chooseRendition(jpeg, "png", box, half)).toEqual({ format: "png", width: 200, height: 150 });
    }
    expect(chooseRendition(svg, "svg", { maxWidth: 401 }, () => ({ width: 400, height: 300 }))).toBeNull();
  });

  test("throws bad_request for a page beyond the last", () => {
    for (const [record, page] of [
      [pdf, 4],
      [jpeg, 2],
      [{ ...jpeg, type: "image/gif" as const, pages: 9 }, 2],
    ] as const) {
      expect(() => choose(record, "png", { page })).toThrowError(
        expect.objectContaining({ code: "bad_request" }),
      );
    }
  });
});

describe("specName and isSpecName", () => {
  test("write one name per spec", () => {
    expect(specName({ format: "jpg", quality: "low", maxWidth: 8, maxHeight: 6 })).toBe("jpg-low-in8x6");
    expect(specName({ format: "png", maxHeight: 6 })).toBe("png-inx6");
    expect(specName({ format: "png", width: 8, height: 6 })).toBe("png-8x6");
    expect(specName({ format: "png", page: 2 })).toBe("png-p2");
    expect(specName({ format: "gif" })).toBe("gif");
  });

  test("tell names of specs from those of earlier releases and of intermediates", () => {
    const names = ["png", "jpg-max", "png-8x6", "png-in8x", "png-inx6", "jpg-low-in8x6-p12", "pdf-p2"];
    expect(names.filter(isSpecName)).toEqual(names);
    const others = [
      "png-8x6-4f2a9c01",
      "jpg-low-8x-b1c2",
      "png-f00",
      "intermediate-p1",
      "",
      "tiff",
      "png-0x6",
    ];
    expect(others.filter(isSpecName)).toEqual([]);
  });
});
