import { deflateSync } from "node:zlib";
import { isServiceError } from "@outrigger/core";
import { expect, test } from "vitest";
import { firstObjectOf, QUARTERS, samplePdf } from "../../../../../test/support/pdf-samples.ts";
import { exifBlock } from "../../../test/exif-blocks.ts";
import { stripMetadata } from "./strip-metadata.ts";

const FIRST = firstObjectOf(1);
const page = { content: QUARTERS };

test.each([
  ["arrays within arrays", samplePdf([page], ["[".repeat(200_000)])],
  ["strings that never end", samplePdf([page], new Array(500).fill(`(${"(".repeat(500)}`))],
  ["objects that never end", Buffer.from(`%PDF-1.7\n${"1 0 obj<</A ".repeat(3000)}`)],
  [
    "private data that refer to each other",
    samplePdf(
      [{ ...page, entries: `/PieceInfo ${FIRST} 0 R` }],
      [`<</A ${FIRST + 1} 0 R>>`, `<</B ${FIRST} 0 R>>`],
    ),
  ],
  ["page content of one endless word", samplePdf([{ content: "BI".repeat(1_000_000) }])],
  ["inline images without entries", samplePdf([{ content: "BI ID ".repeat(1_000_000) }])],
  ["inline images in a comment", samplePdf([{ content: "BI %".repeat(1_000_000) }])],
  [
    "streams that share an endless list of filters",
    samplePdf(
      [page],
      [
        `[${"/Fl".repeat(100_000)}]`,
        ...new Array(3000).fill({ dictionary: `/Filter ${FIRST} 0 R`, data: "" }),
      ],
    ),
  ],
  [
    "pictures of nothing within Flate within Flate",
    samplePdf(
      [page],
      new Array(300).fill({
        dictionary: "/Subtype/Image/Filter[/Fl/Fl/AHx/DCT]",
        data: deflateSync(deflateSync(Buffer.alloc(2_000_000))),
      }),
    ),
  ],
  ["thousands of trailers", Buffer.from(`%PDF-1.7\n${"trailer<</Info 1 0 R>>\n".repeat(5000)}`)],
  [
    "an object stream with more objects than bytes",
    samplePdf(
      [page],
      [
        {
          dictionary: "/Type/ObjStm/N 999999999/First 9/Filter/FlateDecode",
          data: deflateSync("1 0 2 0 3 "),
        },
      ],
    ),
  ],
])("stripPdf ends in time for %s", async (_, pdf) => {
  const began = process.cpuUsage();
  await stripMetadata(pdf, "application/pdf").catch((error: unknown) => {
    if (!isServiceError(error)) throw error;
  });
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(50_000);
});

test("stripJpeg refuses a JPEG that holds only EXIF segments", async () => {
  const exif = Buffer.concat([Buffer.of(0xff, 0xe1, 0, 104), Buffer.from("Exif\0\0"), exifBlock(6)]);
  const jpeg = (count: number) =>
    Buffer.concat([Buffer.of(0xff, 0xd8), ...Array.from({ length: count }, () => exif)]);
  expect(await stripMetadata(jpeg(1000), "image/jpeg")).toHaveLength(1001);
  await expect(stripMetadata(jpeg(1001), "image/jpeg")).rejects.toMatchObject({ code: "unsupported_media" });
});

test("stripPdf removes private data that refer to half a million objects", async () => {
  const references = `[${`${FIRST} 0 R `.repeat(500_000)}]`;
  const entries = `/PieceInfo ${FIRST + 1} 0 R`;
  const pdf = samplePdf([{ ...page, entries }], ["(Personal)", references]);
  const stripped = Buffer.concat((await stripMetadata(pdf, "application/pdf")) ?? []);
  expect(stripped.includes("Personal")).toBe(false);
});
