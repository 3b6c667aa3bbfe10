import { describe, expect, test } from "vitest";
import { pdfDamages } from "../../../../../test/support/damaged-pdfs.ts";
import { compressedPdf } from "../../../../../test/support/metadata-samples.ts";
import {
  encryptedPdf,
  firstObjectOf,
  QUARTERS,
  restrictedPdf,
  samplePdf,
} from "../../../../../test/support/pdf-samples.ts";
import { cornersOf, type Rgb } from "../../../test/pictures.ts";
import { unreadable } from "../../../test/unreadable.ts";
import { stripPdf } from "../privacy/strip-pdf.ts";
import { openPdf } from "./open-pdf.ts";
import { repairPdf } from "./repair-pdf.ts";

const CORNERS: Rgb[] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 0],
];
const SECRET = "a secret";
const INFO = `<</Author(${SECRET})/CreationDate(D:20240102)>>`;
const two = samplePdf(
  [{ content: QUARTERS, entries: "/MediaBox[0 0 60 40]" }, { entries: "/MediaBox[0 0 30 20]" }],
  [INFO],
  { trailer: `/Info ${firstObjectOf(2)} 0 R` },
);

const packed = compressedPdf(
  [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 60 40]>>",
    "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>",
    { data: QUARTERS },
  ],
  "/Root 1 0 R",
);

async function facts(bytes: Buffer, page = 1) {
  const { natural, pages, decode } = await openPdf(bytes, { page, maxPixels: 1_000_000 });
  return { natural, pages, corners: await cornersOf(await (await decode()).png().toBuffer()) };
}

test.each([...pdfDamages])(
  "repairPdf makes a PDF %s readable, and its metadata can be removed",
  async (_, damage) => {
    const repaired = await repairPdf(damage(two));
    const pieces = await stripPdf(repaired);
    const stripped = pieces === null ? repaired : Buffer.concat(pieces);
    expect(await facts(stripped)).toEqual({
      natural: { width: 120, height: 80 },
      pages: 2,
      corners: CORNERS,
    });
    expect((await facts(stripped, 2)).natural).toEqual({ width: 60, height: 40 });
    expect(stripped.includes(SECRET)).toBe(false);
  },
);

describe("repairPdf returns the same buffer for", () => {
  test.each([
    ["a healthy PDF", two],
    ["a PDF without startxref, which PDFium replaces", two.subarray(0, two.indexOf("startxref"))],
    ["an encrypted PDF that opens without a password", restrictedPdf],
    ["a PDF with object streams", packed],
  ])("%s", async (_, bytes) => {
    expect(await repairPdf(bytes)).toBe(bytes);
  });
});

test("a repaired PDF begins with its header", async () => {
  const cut = two.subarray(two.indexOf("\n") + 1);
  const page = Buffer.from("<html><script>alert(1)</script>");
  for (const damaged of [cut, Buffer.concat([page, cut]), Buffer.concat([page, Buffer.alloc(2000), two])]) {
    const repaired = await repairPdf(damaged);
    expect(repaired.toString("latin1", 0, 5)).toBe("%PDF-");
    expect(repaired.includes("<script>")).toBe(false);
  }
});

test("repairPdf rebuilds a PDF whose damaged page tree is in an object stream", async () => {
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[null 3 0 R]/Count 2/MediaBox[0 0 60 40]>>",
  ];
  const page = ["<</Type/Page/Parent 2 0 R/Contents 4 0 R>>", { data: QUARTERS }];
  const repaired = await repairPdf(compressedPdf([...objects, ...page], "/Root 1 0 R"));
  expect(await facts(repaired)).toEqual({ natural: { width: 120, height: 80 }, pages: 1, corners: CORNERS });
});

test("a rebuilt PDF has the last revision of each object, and what pages inherit", async () => {
  const bytes = samplePdf([{ content: QUARTERS, entries: "/Rotate 90" }]);
  const text = bytes.toString("latin1").replace(/xref[\s\S]*/, "");
  const changes =
    "4 0 obj\n<</Length 30>>stream\n0 0 1 rg 0 0 60 40 re f       \nendstream\nendobj\n" +
    "2 0 obj\n<</Type/Pages/Kids[null 3 0 R]/Count 1/MediaBox[0 0 60 40]/CropBox[0 0 30 40]>>\nendobj\n" +
    "trailer\n<</Root 1 0 R>>";
  expect(await facts(await repairPdf(Buffer.from(text + changes, "latin1")))).toEqual({
    natural: { width: 80, height: 60 },
    pages: 1,
    corners: Array(4).fill([0, 0, 255]),
  });
});

test.each([
  ["text", "This is not a PDF", "damaged"],
  ["text that begins as a PDF", "%PDF-1.7\nand no more", "damaged"],
  ["HTML", "<html>1 0 obj", "damaged"],
  ["an object without pages", "1 0 obj\n<</Type/Catalog>>\nendobj", "damaged"],
  ["a document without pages", samplePdf([]), "damaged: it has no pages"],
  ["a document behind a password", encryptedPdf, "it is protected by a password"],
  [
    "a headerless document behind a password",
    encryptedPdf.subarray(encryptedPdf.indexOf("\n") + 1),
    "damaged",
  ],
])("repairPdf refuses %s with the reason for the whole file", async (_, bytes, reason) => {
  await expect(repairPdf(Buffer.from(bytes))).rejects.toThrow(unreadable("application/pdf", reason));
});

test("repairPdf ends in time and memory for page trees of many kids and of loops", async () => {
  const kids = Array.from({ length: 50_000 }, () => "<</Type/Page>>").join(" ");
  const tree = `<</Type/Pages/Count 1/Kids[null ${kids}]/Resources<</X(${"x".repeat(100_000)})>>>>`;
  const bytes = Buffer.from(`1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj${tree}endobj`);
  const started = process.cpuUsage();
  expect((await repairPdf(bytes)).length).toBeLessThan(5 * bytes.length);
  const loops = Array.from(
    { length: 20_000 },
    (_, n) => `${n + 2} 0 obj<</Kids[null ${n + 3} 0 R 2 0 R]>>endobj`,
  );
  await expect(
    repairPdf(Buffer.from(`1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj ${loops.join(" ")}`)),
  ).rejects.toMatchObject({ code: "unsupported_media" });
  expect(process.cpuUsage(started).user).toBeLessThan(60_000_000);
});
