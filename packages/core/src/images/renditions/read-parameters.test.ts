import { describe, expect, test } from "vitest";
import type { ImageFormat, OriginalType, RenditionSpec } from "../../contracts/renderer.ts";
import { parseReadParameters, type ReadParameters } from "./read-parameters.ts";
import { chooseRendition } from "./read-request.ts";
import { specName } from "./rendition-bytes.ts";

function parse(format: ImageFormat, values: Record<string, unknown>) {
  return parseReadParameters(format, (name) => values[name]);
}

function expectRefused(format: ImageFormat, values: Record<string, unknown>) {
  const refused = expect.objectContaining({ code: "bad_request" });
  expect(() => parse(format, values), JSON.stringify(values)).toThrowError(refused);
}

describe("parseReadParameters", () => {
  test("reads resize as its sides", () => {
    expect(parse("png", { resize: "800x600" })).toEqual({ maxWidth: 800, maxHeight: 600 });
    expect(parse("png", { resize: "800x" })).toEqual({ maxWidth: 800 });
    expect(parse("png", { resize: "x600" })).toEqual({ maxHeight: 600 });
    expect(parse("png", { resize: "1x1" })).toEqual({ maxWidth: 1, maxHeight: 1 });
    expect(parse("png", { resize: "8192x8192" })).toEqual({ maxWidth: 8192, maxHeight: 8192 });
    for (const resize of ["", null]) expect(parse("png", { resize })).toEqual({});
  });

  test("throws bad_request for a resize that names no sides from 1 to 8192", () => {
    const texts = "x 800 0x10 10x0 8193x1 -1x10 1.5x2 800X600 1e3x 99999999x".split(" ");
    for (const resize of [...texts, " 8x8", 800, {}]) expectRefused("png", { resize });
  });

  test("accepts four values of convert for jpg, and ignores convert for other formats", () => {
    for (const convert of ["low", "medium", "high", "max"])
      expect(parse("jpg", { convert })).toEqual({ quality: convert });
    for (const convert of ["best", "LOW", "auto", 5, true]) {
      expectRefused("jpg", { convert });
      for (const format of ["png", "webp", "avif"] as const) expect(parse(format, { convert })).toEqual({});
    }
  });

  test("accepts a page as digits or as a whole number from 1", () => {
    expect(parse("png", { page: "3" })).toEqual({ page: 3 });
    expect(parse("png", { page: 3 })).toEqual({ page: 3 });
    for (const page of ["0", "-1", "1.5", "x", 0, 1.5, true]) expectRefused("png", { page });
  });
});

describe("the parameters of a crop", () => {
  const box = { resize: "8x6" };

  test("are read with a box, without values that have no effect", () => {
    const size = { maxWidth: 8, maxHeight: 6 };
    expect(parse("png", { fit: "contain" })).toEqual({});
    expect(parse("png", { ...box, fit: "contain", at: "0,0", background: "FFFFFF" })).toEqual(size);
    expect(parse("png", { ...box, fit: "cover" })).toEqual({ ...size, fit: "cover" });
    for (const at of [".12345,1", [0.12345, 1]]) {
      const expected = { ...size, fit: "cover", at: [0.1235, 1] };
      expect(parse("png", { ...box, fit: "cover", at, background: "000000" })).toEqual(expected);
    }
    expect(parse("png", { ...box, fit: "pad", background: "FF8800", at: "entropy" })).toEqual({
      ...size,
      fit: "pad",
      background: "ff8800",
    });
    expect(parse("png", { ...box, fit: "pad", background: "transparent" })).toEqual({ ...size, fit: "pad" });
  });

  test("parameters of a crop throw bad_request for a malformed value, and without a box of two sides", () => {
    const refused = [
      { ...box, fit: "crop" },
      { ...box, fit: "COVER" },
      { ...box, fit: 1 },
      { ...box, at: "0.5" },
      { ...box, at: "2,0" },
      { ...box, at: "-0.1,0" },
      { ...box, at: "1e-3,0" },
      { ...box, at: "0,0,0" },
      { ...box, at: [0.5] },
      { ...box, at: [0.5, "0.5"] },
      { ...box, at: "face" },
      { ...box, background: "#ffffff" },
      { ...box, background: "fff" },
      { ...box, background: "red" },
      { fit: "cover" },
      { fit: "pad", resize: "8x" },
      { at: "0,0", resize: "x6" },
      { background: "ffffff", resize: "8x" },
      { background: "transparent" },
    ];
    for (const values of refused) expectRefused("png", values);
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

  test("throws bad_request for a fit other than contain of a PDF as PDF", () => {
    const box = { maxWidth: 8, maxHeight: 8 };
    for (const fit of ["cover", "pad"] as const) {
      expect(() => choose(pdf, "pdf", { ...box, fit })).toThrow("fit must be contain for a PDF as PDF");
      expect(choose(pdf, "png", { ...box, fit })).toMatchObject({ format: "png" });
      expect(choose(jpeg, "pdf", { ...box, fit })).toMatchObject({ format: "pdf" });
    }
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

  test("passes a crop to the renderer with the focus of the image as its default, and keeps the resulting layout", () => {
    const asked: RenditionSpec[] = [];
    const drawn = { width: 40, height: 30, left: 3, top: 0 };
    const measure = (_: unknown, spec: RenditionSpec) => {
      asked.push(spec);
      return { width: 30, height: 30, drawn };
    };
    const parameters = { maxWidth: 30, maxHeight: 30, fit: "cover" } as const;
    const focused = { ...jpeg, focus: [0.2, 0.8] as const };
    const spec = { format: "png", width: 30, height: 30, drawn };
    expect(chooseRendition(focused, "png", parameters, measure)).toEqual(spec);
    chooseRendition(focused, "png", { ...parameters, at: "entropy" }, measure);
    chooseRendition(focused, "png", { ...parameters, at: [0.5, 0.5] }, measure);
    chooseRendition(jpeg, "png", parameters, measure);
    expect(asked.map(({ at }) => at)).toEqual([[0.2, 0.8], "entropy", undefined, undefined]);
  });

  test("leaves out a background that changes nothing", () => {
    const pad = { maxWidth: 40, maxHeight: 30, fit: "pad", background: "ff0000" } as const;
    const whole = () => ({ width: 40, height: 30 });
    expect(chooseRendition(jpeg, "png", pad, whole)).toEqual({ format: "png", width: 40, height: 30 });
    expect(chooseRendition(svg, "png", pad, whole)).toMatchObject({ background: "ff0000" });
    expect(chooseRendition(svg, "jpg", { ...pad, background: "ffffff" }, whole)).not.toHaveProperty(
      "background",
    );
    const natural = () => ({ width: 400, height: 300 });
    expect(chooseRendition(svg, "svg", pad, natural)).toMatchObject({ background: "ff0000" });
    const cover = { maxWidth: 800, maxHeight: 600, fit: "cover" } as const;
    expect(chooseRendition(svg, "svg", cover, natural)).toBeNull();
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

describe("specName", () => {
  test("has the layout of a crop, its background and its page", () => {
    const crops: RenditionSpec[] = [
      { format: "png", width: 8, height: 6, drawn: { width: 9, height: 6, left: 1, top: 0 } },
      { format: "png", width: 8, height: 6, drawn: { width: 4, height: 6, left: -2, top: 0 }, page: 3 },
      { format: "jpg", quality: "low", width: 8, height: 6, drawn: { width: 9, height: 6, at: "attention" } },
      { format: "png", width: 8, height: 6, background: "ff8800" },
      { format: "png", maxWidth: 8, maxHeight: 6, fit: "cover", at: [0.25, 0.1] },
      { format: "png", maxWidth: 8, maxHeight: 6, fit: "cover", at: "entropy", page: 2 },
      { format: "png", maxWidth: 8, maxHeight: 6, fit: "pad", background: "ff8800" },
    ];
    expect(crops.map(specName)).toEqual([
      "png-8x6-of9x6l1t0",
      "png-8x6-of4x6lm2t0-p3",
      "jpg-low-8x6-of9x6attention",
      "png-8x6-bgff8800",
      "png-in8x6-cover-x2500y1000",
      "png-in8x6-cover-entropy-p2",
      "png-in8x6-pad-bgff8800",
    ]);
  });
});
