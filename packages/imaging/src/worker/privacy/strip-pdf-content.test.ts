import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { QUARTERS, samplePdf } from "../../../../../test/support/pdf-samples.ts";
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
