import { describe, expect, test } from "vitest";
import { createSite, type SiteOptions } from "../../../test/image-site.ts";
import type { AddressedRendition, AddressOptions } from "./write-address.ts";

const ID = "AAAAAAAAAAAAAAAAAAAAAA";
const presets = { thumb: { resize: "32x32" } };
const RESIZE = "resize must be <MaxWidth>x<MaxHeight>, <MaxWidth>x or x<MaxHeight>";
const UNTIL = "address: until must be a valid Date or Unix milliseconds";

function address(
  rendition?: AddressedRendition,
  options?: AddressOptions,
  site: SiteOptions = {},
  id = ID,
): Promise<string> {
  return createSite({ presets, ...site }).images.address(id, rendition, options);
}

describe("images.address", () => {
  test("returns the image URL without a format", async () => {
    expect(await address()).toBe(`/${ID}`);
    expect(await address({}, {})).toBe(`/${ID}`);
    expect(await address({}, {}, { publicUrl: "https://example.com/img/" })).toBe(
      `https://example.com/img/${ID}`,
    );
  });

  test.each<[AddressedRendition, string]>([
    [{ format: "png" }, "png"],
    [{ format: "jpeg", resize: "0800x", page: 2, convert: "low" }, "jpg?convert=low&page=2&resize=800x"],
    [{ format: "webp", resize: "x600", convert: "low" }, "webp?resize=x600"],
    [{ format: "avif", preset: "thumb" }, "avif?preset=thumb"],
    [{ format: "gif", resize: "" }, "gif"],
  ])("returns for %j the suffix .%s below the mount point", async (rendition, expected) => {
    expect(await address(rendition)).toBe(`/api/images/${ID}.${expected}`);
    expect(await address(rendition, {}, { publicUrl: "https://example.com/img" })).toBe(
      `https://example.com/img/api/images/${ID}.${expected}`,
    );
  });

  test("appends the signature if signed is true", async () => {
    expect(await address({ format: "png", resize: "8x" }, { signed: true })).toMatch(
      new RegExp(`^/api/images/${ID}\\.png\\?resize=8x&s=[\\w-]{43}$`),
    );
    expect(await address({ format: "png" }, { signed: true })).toMatch(/\.png\?s=[\w-]{43}$/);
  });

  test("accepts until as a Date or as Unix milliseconds, and signs it", async () => {
    const at = Date.parse("2026-03-01T13:00:00.000Z");
    const expected = /\.png\?resize=8x&until=1772370000000&s=[\w-]{43}$/;
    const dated = await address({ format: "png", resize: "8x" }, { until: new Date(at) });
    expect(dated).toMatch(expected);
    expect(await address({ format: "png", resize: "8x" }, { until: at, signed: true })).toBe(dated);
  });

  test("signs by default if sizes is signed and the parameters need a signature", async () => {
    const site = { sizes: "signed" } as const;
    expect(await address({ format: "png", page: 1 }, {}, site)).toMatch(/\?page=1&s=[\w-]{43}$/);
    expect(await address({ format: "png", page: 1 }, { signed: false }, site)).toMatch(/\?page=1$/);
    expect(await address({ format: "png" }, {}, site)).toMatch(/\.png$/);
    expect(await address({ format: "png", preset: "thumb" }, {}, site)).toMatch(/\?preset=thumb$/);
  });

  test.each<[AddressedRendition | undefined, AddressOptions, string]>([
    [{ resize: "8x" }, {}, "format is required: the image URL has no parameters"],
    [undefined, { signed: true }, "format is required: the image URL has no parameters"],
    [{}, { until: Date.now() * 2 }, "format is required: the image URL has no parameters"],
    [{ format: "bmp" as never }, {}, "Nothing is served as .bmp"],
    [{ format: "png", resize: "8" }, {}, RESIZE],
    [{ format: "png", resize: 8 as never }, {}, RESIZE],
    [{ format: "jpg", convert: "best" as never }, {}, "convert must be one of low, medium, high, max"],
    [{ format: "png", page: 0 }, {}, "page must be a whole number from 1"],
    [{ format: "png", preset: "huge" }, {}, "preset must be one of thumb"],
    [{ format: "png", preset: "thumb", page: 1 }, {}, "preset and page exclude each other: send only one"],
    [{ format: "png" }, { until: Date.parse("2026-03-01T12:00:00.000Z") }, "until has passed already"],
  ])("rejects %j with %j with bad_request", async (rendition, options, message) => {
    await expect(address(rendition, options)).rejects.toMatchObject({ code: "bad_request", message });
  });

  test("rejects an invalid image ID with bad_request", async () => {
    for (const id of ["", "../etc/passwd", `${ID}A`]) {
      await expect(address({}, {}, {}, id)).rejects.toMatchObject({ code: "bad_request" });
    }
  });

  test.each([
    [
      { size: "8x" },
      {},
      "size is no option of address: it takes format, resize, convert, page, preset, fit, at, background",
    ],
    [{ format: "png" }, { expires: 5 }, "expires is no option of address: it takes signed, read, until"],
    [{ format: "png" }, { signed: "yes" }, 'address: signed must be true or false, not "yes"'],
    [{ format: "png" }, { until: "tomorrow" }, `${UNTIL}, not "tomorrow"`],
    [{ format: "png" }, { until: new Date("x") }, `${UNTIL}, not an object`],
    [{ format: "png" }, { until: 8.64e15 + 1 }, `${UNTIL}, not 8640000000000001`],
    [
      { format: "png" },
      { until: 9e12, signed: false },
      "address: signed must be true or absent beside until, not false",
    ],
  ])("rejects %j with %j with a TypeError", async (rendition, options, message) => {
    await expect(address(rendition as never, options as never)).rejects.toThrow(new TypeError(message));
  });
});
