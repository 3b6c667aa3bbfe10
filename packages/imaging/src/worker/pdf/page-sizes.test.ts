import { expect, test } from "vitest";
import { samplePdf } from "../../../../../test/support/pdf-samples.ts";
import { listPageSizes } from "./open-pdf.ts";

const box = (width: number, height: number) => ({ entries: `/MediaBox[0 0 ${width} ${height}]` });

test("listPageSizes returns one run for pages of equal size", async () => {
  const pdf = samplePdf([box(100, 200), box(100, 200), box(200, 100), box(100, 200)]);
  expect(await listPageSizes(pdf)).toEqual([
    [1, 200, 400],
    [3, 400, 200],
    [4, 200, 400],
  ]);
});

test("listPageSizes returns the sizes of the rotated crop boxes", async () => {
  const pdf = samplePdf([box(100, 200), { entries: "/MediaBox[0 0 300 300]/CropBox[0 0 50 60]/Rotate 90" }]);
  expect(await listPageSizes(pdf)).toEqual([
    [1, 200, 400],
    [2, 120, 100],
  ]);
});

test("listPageSizes returns 0 by 0 for a page without area, and sizes for later pages", async () => {
  const pdf = samplePdf([box(100, 200), box(300_000, 300_000), box(100, 200)]);
  expect(await listPageSizes(pdf)).toEqual([
    [1, 200, 400],
    [2, 0, 0],
    [3, 200, 400],
  ]);
});

test("listPageSizes returns at most 32 runs and omits later pages", async () => {
  const pdf = samplePdf(Array.from({ length: 100 }, (_, page) => box(100 + page, 100)));
  const sizes = await listPageSizes(pdf);
  expect(sizes).toHaveLength(32);
  expect(sizes.at(-2)).toEqual([31, 260, 200]);
  expect(sizes.at(-1)).toEqual([32, 0, 0]);
});

test("listPageSizes does not measure pages after the 2000th", async () => {
  const pdf = samplePdf(Array.from({ length: 2010 }, () => box(100, 100)));
  expect(await listPageSizes(pdf)).toEqual([
    [1, 200, 200],
    [2001, 0, 0],
  ]);
});
