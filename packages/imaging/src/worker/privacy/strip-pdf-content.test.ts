import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  pdfOfObjects,
  QUARTERS,
  type SampleObject,
  samplePdf,
} from "../../../../../test/support/pdf-samples.ts";
import { drawn, everythingIn, strip } from "../../../test/acting-pdfs.ts";
import { stripPdf } from "./strip-pdf.ts";

const SECRET = "a secret";
const jpeg = Buffer.from(`\xff\xd8\xff\xfe\0\x0a${SECRET}\xff\xda\0\x02\xff\xd9`, "latin1");
const hidden = `BI /W 1 /H 1 /F[/AHx/DCT] ID ${jpeg.toString("hex")}> EI`;

test.each([
  ["a text that looks like the end of its dictionary", "/Span<</ActualText(5>4%)>> BDC", "EMC"],
  ["a resource that is named like an inline image", "/BI gs ".repeat(30), ""],
])("a page keeps its content after %s", async (_, before, after) => {
  const pdf = samplePdf([{ content: `% ${SECRET}\n${before} ${QUARTERS} ${after}` }]);
  const stripped = await strip(pdf);
  expect(everythingIn(stripped)).not.toContain(SECRET);
  expect((await drawn(stripped)).equals(await drawn(pdf))).toBe(true);
});

test("an inline image is found after a name that looks like one", async () => {
  const stripped = await strip(samplePdf([{ content: `/BI /W 1 /H 1 ID ${hidden} ${QUARTERS}` }]));
  expect(everythingIn(stripped)).not.toContain(Buffer.from(SECRET).toString("hex"));
  expect(everythingIn(stripped)).not.toContain(SECRET);
});

test.each([
  ["an inline image of negative width", "BI /W 1 /H 1 /CS/G ID x EI BI /W -100 /H 1 /CS/G ID x EI"],
  ["an inline image of comments", `BI ${"%".repeat(100)}\n ID x EI`],
])("%s ends", async (_, content) => {
  const pdf = samplePdf([{ content: `${content} ${QUARTERS}` }]);
  expect((await drawn(await strip(pdf))).length).toBeGreaterThan(0);
});

test("more inline images than any program writes are refused", async () => {
  const data = deflateSync("BI/W 1 ID x EI ".repeat(60_000));
  const pdf = samplePdf([{ entries: "/Contents 5 0 R" }], [{ dictionary: "/Filter/FlateDecode", data }]);
  await expect(stripPdf(pdf)).rejects.toMatchObject({ code: "unsupported_media" });
});

test("an action in an array is removed, also when its kind is another object", async () => {
  const link = `<</Subtype/Link/Rect[5 5 25 25]/A[<</S 5 0 R/JS(${SECRET})>>]>>`;
  const pdf = samplePdf([{ entries: `/Annots[${link}]` }], ["/JavaScript"]);
  expect(everythingIn(await strip(pdf))).not.toContain(SECRET);
});

const PAGES = 50;
const kids = Array.from({ length: PAGES }, (_, index) => `${index + 3} 0 R`).join(" ");
/** A PDF of equal pages. `shared` has the entries of their node, and `objects` come after the pages. */
const equalPages = (page: string, shared: string, objects: readonly SampleObject[]) =>
  pdfOfObjects([
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Kids[${kids}]/Count ${PAGES}${shared}>>`,
    ...Array.from({ length: PAGES }, () => `<</Type/Page/Parent 2 0 R${page}>>`),
    ...objects,
  ]);
const [FIRST, SECOND, THIRD] = [PAGES + 3, PAGES + 4, PAGES + 5];
const half = QUARTERS.indexOf("0 0 1 rg");
const names = Array.from({ length: 500 }, (_, index) => `/G${index}<</LW ${index}>>`).join("");

test.each([
  [
    "an array of contents that needs no cleaning",
    `/MediaBox[0 0 60 40]/Contents ${FIRST} 0 R`,
    "",
    [`[${SECOND} 0 R ${THIRD} 0 R]`, { data: QUARTERS.slice(0, half) }, { data: QUARTERS.slice(half) }],
    5,
  ],
  [
    "an array of contents with a comment",
    `/MediaBox[0 0 60 40]/Contents ${FIRST} 0 R`,
    "",
    [`[${SECOND} 0 R ${THIRD} 0 R]`, { data: `% ${SECRET}\n` }, { data: QUARTERS }],
    3,
  ],
  [
    "resources and boxes that they inherit",
    `/Contents ${FIRST} 0 R`,
    `/MediaBox[0 0 60 40]/CropBox[0 0 60 40]/Resources<</ExtGState<<${names}>>>>`,
    [{ data: `% ${SECRET}\n/G7 gs ${QUARTERS}` }],
    6,
  ],
])("pages of a cleaned PDF share %s", async (_, page, shared, objects: SampleObject[], others) => {
  const pdf = equalPages(page, shared, objects);
  const stripped = await strip(pdf);
  expect(stripped.toString("latin1").match(/\d+ 0 obj/g)).toHaveLength(PAGES + others);
  expect(stripped.length).toBeLessThan(2 * pdf.length);
  expect(everythingIn(stripped)).not.toContain(SECRET);
  for (const number of [1, PAGES]) {
    expect((await drawn(stripped, number)).equals(await drawn(pdf, number))).toBe(true);
  }
});

test("a document with more comments than any program writes is refused", async () => {
  const data = deflateSync(Buffer.alloc(3_000_000, "%\n"));
  const pdf = samplePdf([{ entries: "/Contents 5 0 R" }], [{ dictionary: "/Filter/FlateDecode", data }]);
  await expect(stripPdf(pdf)).rejects.toMatchObject({ code: "unsupported_media" });
});
