import { describe, expect, test } from "vitest";
import { createSite } from "../../../test/image-site.ts";

const STEPS = "createImages: sizes.steps must be a list of 1 to 64 whole numbers from 1 to 8192, not";

describe("createImages", () => {
  test.each([
    [
      { sizes: "some" },
      'createImages: sizes must be one of any, steps, signed, or { steps } with a list of longer sides, not "some"',
    ],
    [{ sizes: { steps: [] } }, `${STEPS} an empty list`],
    [{ sizes: { steps: [0] } }, `${STEPS} a list`],
    [{ sizes: { steps: [8193] } }, `${STEPS} a list`],
    [{ sizes: { steps: [1.5] } }, `${STEPS} a list`],
    [
      { presets: { Thumb: { page: 1 } } },
      "createImages: presets.Thumb must be named by 1 to 32 of a-z, 0-9 and -",
    ],
    [
      { presets: { thumb: {} } },
      "createImages: presets.thumb must have at least one of resize, convert, page, fit, at, background, rotate, watermark",
    ],
    [
      { presets: { thumb: { resize: "0x" } } },
      'createImages: presets.thumb.resize must be <MaxWidth>x<MaxHeight>, <MaxWidth>x or x<MaxHeight> with sides of 1 to 8192 pixels, not "0x"',
    ],
    [
      { presets: { thumb: { convert: "best" } } },
      'createImages: presets.thumb.convert must be one of low, medium, high, max, not "best"',
    ],
    [
      { presets: { thumb: { page: 0 } } },
      "createImages: presets.thumb.page must be a whole number from 1 to 999999999, not 0",
    ],
    [
      { presets: { thumb: { size: 5 } } },
      "presets.thumb.size is no option of createImages: it takes resize, convert, page, fit, at, background, rotate, watermark",
    ],
  ])("throws a TypeError for the options %j", (options, message) => {
    expect(() => createSite(options as never)).toThrow(new TypeError(message));
  });
});
