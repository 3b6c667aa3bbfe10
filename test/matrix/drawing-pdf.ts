import { firstObjectOf, samplePdf } from "../support/pdf-samples.ts";

/** A PDF of `pages` pages with vectors and text in a standard font; the first page has a colour of its own. */
export function drawingPdf(width: number, height: number, pages: number): Buffer {
  return samplePdf(
    Array.from({ length: pages }, (_, page) => ({
      content: content(width, height, page),
      entries: `/MediaBox[0 0 ${width} ${height}]`,
      resources: `/Font<</F ${firstObjectOf(pages)} 0 R>>`,
    })),
    ["<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>"],
  );
}

function content(width: number, height: number, page: number): string {
  return [
    `0.1 0.3 ${page === 0 ? 0.8 : 0.2} rg 0 ${height / 2} ${width} ${height / 2} re f`,
    `0.9 0.2 0.1 rg 0 0 ${width / 2} ${height / 2} re f`,
    `BT /F ${height / 4} Tf 1 1 1 rg 8 ${height * 0.6} Td (Page ${page + 1}) Tj ET`,
  ].join("\n");
}
