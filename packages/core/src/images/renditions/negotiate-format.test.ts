import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ImageRecord } from "../record/image-record.ts";
import { NEGOTIATED_FORMATS, negotiateFormat } from "./negotiate-format.ts";

type Picture = Pick<ImageRecord, "type" | "pages" | "alpha">;

const PHOTO: Picture = { type: "image/jpeg", pages: 1, alpha: false };
const LOGO: Picture = { type: "image/png", pages: 1, alpha: true };
const ANIMATION: Picture = { type: "image/gif", pages: 3, alpha: true };
const everything = () => true;

const CHROME = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";
const SAFARI =
  "image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,*/*;q=0.5";

describe("negotiateFormat", () => {
  test.each<[accept: string | undefined, photo: string, logo: string, animation: string]>([
    [undefined, "jpg", "png", "gif"],
    ["", "jpg", "png", "gif"],
    ["*/*", "jpg", "png", "gif"],
    ["image/*", "jpg", "png", "gif"],
    [CHROME, "avif", "avif", "webp"],
    [SAFARI, "avif", "avif", "webp"],
    ["image/webp", "webp", "webp", "webp"],
    ["image/avif", "avif", "avif", "gif"],
    ["IMAGE/WebP ; Q=0.9 , */* ; q=0.1", "webp", "webp", "webp"],
    ["image/avif;q=0.5, image/webp;q=0.9", "webp", "webp", "webp"],
    ["image/avif;q=0.5, image/webp;q=0.5", "avif", "avif", "webp"],
    ["image/webp;q=0.5, image/jpeg", "jpg", "jpg", "webp"],
    ["image/webp;q=0.5, image/*", "jpg", "png", "gif"],
    ["image/avif;q=0, image/webp;q=0, */*", "jpg", "png", "gif"],
    ["image/avif;q=0.0, image/webp", "webp", "webp", "webp"],
    ["image/jpeg;q=0, */*", "png", "png", "gif"],
    ["image/png;q=0, */*", "jpg", "jpg", "gif"],
    ["image/png, image/jpeg;q=0.9", "png", "png", "gif"],
    ["*/*;q=0", "jpg", "png", "gif"],
    ["text/html", "jpg", "png", "gif"],
    ["image/webp;q=much, */*", "jpg", "png", "gif"],
    ["image/webp;q=2", "jpg", "png", "gif"],
    [",;, image/webp;level=1;q=0.4,", "webp", "webp", "webp"],
  ])(
    "for Accept %j chooses %s for a photograph, %s with transparency, %s for an animation",
    (accept, ...expected) => {
      const chosen = [PHOTO, LOGO, ANIMATION].map((picture) => negotiateFormat(picture, accept, everything));
      expect(chosen).toEqual(expected);
    },
  );

  test.each<[Picture["type"], string]>([
    ["image/png", "png"],
    ["image/gif", "png"],
    ["image/x-photoshop", "png"],
    ["image/svg+xml", "png"],
    ["image/jpeg", "jpg"],
    ["application/pdf", "jpg"],
  ])("decides by the type for a record that does not tell of transparency: %s as %s", (type, expected) => {
    expect(negotiateFormat({ type, pages: 1 }, "*/*", everything)).toBe(expected);
  });

  test("chooses the next best format for a renderer without AVIF", () => {
    expect(negotiateFormat(PHOTO, CHROME, (format) => format !== "avif")).toBe("webp");
  });

  const quality = fc.constantFrom("", ";q=0", ";q=0.001", ";q=0.5", ";q=1", ";q=1.000", ";q=x");
  const range = fc.constantFrom(
    "image/avif",
    "image/webp",
    "image/jpeg",
    "image/png",
    "image/*",
    "*/*",
    "a/b",
    "",
  );
  const header = fc.array(
    fc.tuple(range, quality).map((parts) => parts.join("")),
    { maxLength: 6 },
  );
  const picture = fc.constantFrom(PHOTO, LOGO, ANIMATION);

  test("never chooses AVIF or WebP that the header does not name, nor AVIF for an animation", () => {
    fc.assert(
      fc.property(header, picture, (ranges, each) => {
        const format = negotiateFormat(each, ranges.join(","), everything);
        expect(NEGOTIATED_FORMATS).toContain(format);
        if (format === "avif" || format === "webp") expect(ranges.join()).toContain(`image/${format}`);
        if (each === ANIMATION) expect(["webp", "gif"]).toContain(format);
        else expect(format).not.toBe("gif");
      }),
    );
  });

  test("does not depend on the order of different ranges, on spaces or on letter case", () => {
    const distinct = fc.uniqueArray(fc.tuple(range, quality), { selector: ([type]) => type, maxLength: 6 });
    fc.assert(
      fc.property(distinct, picture, (pairs, each) => {
        const ranges = pairs.map((parts) => parts.join(""));
        const plain = negotiateFormat(each, ["x/y", ...ranges].join(","), everything);
        const other = [...ranges].reverse().map((text) => text.replace(";", " ; ").toUpperCase());
        expect(negotiateFormat(each, ["x/y", ...other].join(" , "), everything)).toBe(plain);
      }),
    );
  });
});
