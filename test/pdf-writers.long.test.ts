import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { stripMetadata } from "../packages/imaging/src/worker/privacy/strip-metadata.ts";
import { meanDifference, parsePpm } from "./matrix/independent-reader.ts";
import { newContext } from "./support/chromium.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { programs, run } from "./support/programs.ts";
import { sampleSvgs } from "./svg/samples.ts";

type PdfDocument = InstanceType<typeof import("pdfkit")>;

async function output(program: string, args: string[], input: Buffer): Promise<Buffer> {
  const { stdout, status, stderr } = await run(program, args, { input });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Of 255: PDFium saves numbers with seven digits, which moves edges by less than a thousandth of a pixel. */
const MAX_MEAN_DIFFERENCE = 0.5;

/** Expects that poppler draws a cleaned PDF as it draws the PDF. */
async function expectSameLook(name: string, pdf: Buffer): Promise<void> {
  const pieces = await stripMetadata(pdf, "application/pdf");
  expect(pieces, name).not.toBeNull();
  const draw = async (bytes: Buffer) =>
    parsePpm(await output(programs.pdftoppm, ["-q", "-r", "72", "-f", "1", "-l", "1"], bytes));
  const [before, after] = [await draw(pdf), await draw(Buffer.concat(pieces ?? []))];
  expect(new Set(before.rgb).size, name).toBeGreaterThan(1);
  expect(meanDifference(before, after), name).toBeLessThan(MAX_MEAN_DIFFERENCE);
}

test("PDFs of cairo and poppler look the same after cleaning", async () => {
  const drawings = Object.entries(await sampleSvgs()).filter(([, svg]) => svg.includes("xmlns"));
  for (const [index, [name, svg]] of drawings.entries()) {
    const byCairo = await output(programs.rsvgConvert, ["-f", "pdf", "-z", "3"], Buffer.from(svg));
    await expectSameLook(name, byCairo);
    if (index % 4 !== 0) continue;
    const again = join(dirname(programs.pdftoppm), "pdftocairo");
    await expectSameLook(`${name}, by poppler`, await output(again, ["-pdf", "-", "-"], byCairo));
  }
});

test("PDFs that Chromium prints look the same after cleaning", async () => {
  const context = await newContext();
  const page = await context.newPage();
  await page.setContent(
    `<h1>Heading</h1><p>A <b>bold</b> <a href="https://example.com/">link</a>, λ ж ü</p>
    <div style="width:200px;height:120px;background:linear-gradient(45deg,#c33,#36c);border-radius:20px;box-shadow:5px 5px 9px #0008"></div>
    <div style="opacity:.5;background:#3a5;width:90px;height:90px;transform:rotate(20deg)"></div>`,
  );
  await expectSameLook("a page", await page.pdf({ printBackground: true, format: "A5" }));
  await context.close();
});

test("PDFs of pdfkit look the same after cleaning", async () => {
  const PdfKit: typeof import("pdfkit") = createRequire(
    new URL("../packages/imaging/package.json", import.meta.url),
  )("pdfkit");
  const jpeg = await jpegPhoto(90, 60);
  const pages: Record<string, (document: PdfDocument) => void> = {
    text: (document) => document.text("Lorem ipsum dolor sit amet. ".repeat(40)),
    pictures: (document) => document.image(jpeg, 20, 20, { width: 200 }),
    gradients: (document) =>
      document
        .rect(10, 10, 200, 100)
        .fill(document.linearGradient(10, 10, 210, 110).stop(0, "#e30").stop(1, "#05b")),
    opacity: (document) => document.rect(10, 10, 150, 100).fillOpacity(0.4).fill("#083"),
    annotations: (document) =>
      document.text("A note").highlight(20, 20, 100, 20).link(20, 60, 90, 20, "https://example.com/"),
  };
  for (const [name, draw] of Object.entries(pages)) {
    for (const options of [{ compress: false }, { pdfVersion: "1.3" as const }]) {
      const document = new PdfKit({ size: [300, 220], margin: 20, ...options });
      draw(document);
      document.end();
      await expectSameLook(`${name} ${JSON.stringify(options)}`, await buffer(document));
    }
  }
});
