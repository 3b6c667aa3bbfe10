import { createRenderer, measureFontCoverage } from "@outrigger/imaging";
import { expect, it } from "vitest";
import { drawFontSheet, readFontSheet } from "./font-sheet.ts";
import { readPngPixels } from "./png-pixels.ts";

it("readFontSheet finds in one picture the same scripts as measureFontCoverage in forty", async () => {
  const renderer = createRenderer();
  try {
    const source = { bytes: drawFontSheet() };
    const { bytes } = await renderer.render(source, "image/svg+xml", { format: "png" });
    const seen = readFontSheet(readPngPixels(Buffer.from(bytes)));
    expect(seen).toEqual(await measureFontCoverage(renderer));
  } finally {
    await renderer.close();
  }
});
