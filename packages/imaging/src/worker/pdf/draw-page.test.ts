import { describe, expect, test } from "vitest";
import {
  firstObjectOf,
  type SampleObject,
  type SamplePage,
  samplePdf,
} from "../../../../../test/support/pdf-samples.ts";
import type { Rgb } from "../../../test/pictures.ts";
import { drawPage } from "./open-pdf.ts";
import { usePdfDocument } from "./pdf-document.ts";

const WHITE: Rgb = [255, 255, 255];
/** The number of the first object after those of one page. */
const FIRST = firstObjectOf(1);

/** The colour at a point of a page of 60 by 40 points, measured from its upper left corner. */
async function colourAt(bytes: Buffer, x = 30, y = 20): Promise<Rgb> {
  const pixels = await usePdfDocument(bytes, (document) => drawPage(document, 0, { width: 60, height: 40 }));
  const [red = -1, green = -1, blue = -1] = pixels.subarray((y * 60 + x) * 3);
  return [red, green, blue];
}

function page(content: string, more: Omit<SamplePage, "content"> = {}, objects: SampleObject[] = []): Buffer {
  return samplePdf([{ content, ...more }], objects);
}

test("drawPage returns rows without padding", async () => {
  const bytes = page("1 0 0 rg 0 0 30 40 re f 0 0 1 rg 30 0 30 40 re f");
  const pixels = await usePdfDocument(bytes, (document) => drawPage(document, 0, { width: 6, height: 2 }));
  const row = [...Array(3).fill([255, 0, 0]), ...Array(3).fill([0, 0, 255])].flat();
  expect([...pixels]).toEqual([...row, ...row]);
});

test("drawPage leaves the background white", async () => {
  expect(await colourAt(page(""))).toEqual(WHITE);
});

// As poppler draws them.
test.each([
  ["0 0 0 0 k", WHITE],
  ["1 0 0 0 k", [0, 173, 239]],
  ["0 1 0 0 k", [236, 0, 140]],
  ["0 0 1 0 k", [255, 242, 0]],
  ["0 1 1 0 k", [237, 28, 36]],
  ["1 0 1 0 k", [0, 166, 80]],
  ["1 1 0 0 k", [46, 49, 146]],
  ["0 0 0 1 k", [35, 31, 32]],
] as [string, Rgb][])("drawPage converts the inks %s to the colour on paper", async (ink, expected) => {
  const colour = await colourAt(page(`${ink} 0 0 60 40 re f`));
  for (const [channel, value] of colour.entries()) {
    expect(Math.abs(value - (expected[channel] ?? 0)), `${colour}`).toBeLessThanOrEqual(3);
  }
});

test("drawPage blends transparency with the content below", async () => {
  const states = "/ExtGState<</Half<</ca .5>>/Multiply<</BM/Multiply>>>>";
  const red = "1 0 0 rg 0 0 60 40 re f";
  expect(await colourAt(page("/Half gs 1 0 0 rg 0 0 60 40 re f", { resources: states }))).toEqual([
    255, 128, 128,
  ]);
  expect(await colourAt(page(`${red} /Half gs 0 0 1 rg 0 0 60 40 re f`, { resources: states }))).toEqual([
    128, 0, 127,
  ]);
  expect(await colourAt(page(`${red} /Multiply gs 1 1 0 rg 0 0 60 40 re f`, { resources: states }))).toEqual([
    255, 0, 0,
  ]);
});

describe("annotations", () => {
  const box: SampleObject = {
    dictionary: "/Type/XObject/Subtype/Form/BBox[0 0 10 10]",
    data: "0 0 1 rg 0 0 10 10 re f",
  };
  const annotated = (annotation: string) =>
    page("", { entries: `/Annots[${FIRST} 0 R]` }, [`<</Type/Annot/Rect[20 10 40 30]${annotation}>>`, box]);

  test.each([
    ["with an appearance", `/Subtype/Stamp/AP<</N ${FIRST + 1} 0 R>>`, [0, 0, 255]],
    ["without one", "/Subtype/Square/IC[0 1 0]/C[0 1 0]", [0, 255, 0]],
    ["that are hidden", `/Subtype/Stamp/F 2/AP<</N ${FIRST + 1} 0 R>>`, WHITE],
    ["that are links", "/Subtype/Link/Border[0 0 0]", WHITE],
  ] as [string, string, Rgb][])("are drawn as on screen: %s", async (_, annotation, colour) => {
    expect(await colourAt(annotated(annotation))).toEqual(colour);
  });
});

describe("form fields", () => {
  const withField = (field: string, catalogue = "") =>
    samplePdf(
      [{ entries: `/Annots[${FIRST} 0 R]` }],
      [
        `<</Type/Annot/Subtype/Widget/Rect[10 10 50 30]/F 4/T(field)${field}>>`,
        { dictionary: "/Type/XObject/Subtype/Form/BBox[0 0 10 10]", data: "0 0 1 rg 0 0 10 10 re f" },
      ],
      {
        catalogue:
          `/AcroForm<</Fields[${FIRST} 0 R]/DA(/Helv 0 Tf 0 g)` +
          `/DR<</Font<</Helv<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>${catalogue}`,
      },
    );

  test("are drawn with their appearance", async () => {
    expect(await colourAt(withField(`/FT/Tx/V(x)/AP<</N ${FIRST + 1} 0 R>>`))).toEqual([0, 0, 255]);
    const ticked = `/FT/Btn/V/Yes/AS/Yes/AP<</N<</Yes ${FIRST + 1} 0 R>>>>`;
    expect(await colourAt(withField(ticked))).toEqual([0, 0, 255]);
    expect(await colourAt(withField(ticked.replace("/AS/Yes", "/AS/Off")))).toEqual(WHITE);
  });

  test("without an appearance are drawn with their value and background, not highlighted", async () => {
    const field = withField("/FT/Tx/V(MMMM)/DA(/Helv 14 Tf 1 0 0 rg)/MK<</BG[.9 .9 1]>>");
    expect(await colourAt(field, 48, 28)).toEqual([230, 230, 255]);
    const pixels = await usePdfDocument(field, (document) =>
      drawPage(document, 0, { width: 60, height: 40 }),
    );
    const isRed = (_: number, index: number) =>
      index % 3 === 0 && (pixels[index] ?? 0) > 220 && (pixels[index + 1] ?? 0) < 60;
    expect(pixels.filter(isRed).length).toBeGreaterThan(20);
    expect(await colourAt(withField("/FT/Tx"))).toEqual(WHITE);
  });

  test("are not changed by JavaScript", async () => {
    const script = "/S/JavaScript/JS(this.getField\\('field'\\).fillColor = color.red; app.alert\\('x'\\);)";
    const field = withField(
      `/FT/Tx/V(x)/AP<</N ${FIRST + 1} 0 R>>/AA<</C<<${script}>>/F<<${script}>>>>`,
      `/OpenAction<<${script}>>/Names<</JavaScript<</Names[(a)<<${script}>>]>>>>`,
    );
    expect(await colourAt(field)).toEqual([0, 0, 255]);
  });
});
