import { samplePdf } from "./pdf-samples.ts";

const FONT = "/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>";

/** A PDF of A4 pages, each with its number on it. */
export function numberedPdf(pages: number): Buffer {
  return samplePdf(
    Array.from({ length: pages }, (_, index) => ({
      content: `BT /F1 48 Tf 60 700 Td (Page ${index + 1}) Tj ET 0.2 0.4 0.6 rg 60 300 ${40 * (index + 1)} 200 re f`,
      entries: "/MediaBox[0 0 595 842]",
      resources: FONT,
    })),
  );
}
