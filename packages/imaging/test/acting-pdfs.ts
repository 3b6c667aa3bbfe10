import { inflateSync } from "node:zlib";
import { expect } from "vitest";
import { firstObjectOf, QUARTERS, type SampleObject, samplePdf } from "../../../test/support/pdf-samples.ts";
import { openPdf } from "../src/worker/pdf/open-pdf.ts";
import { type StripPdfOptions, stripPdf } from "../src/worker/privacy/strip-pdf.ts";

/** Part of every script, address and file of these tests that must go. */
export const CANARY = "app.alert canary";
export const JAVASCRIPT = `<</S/JavaScript/JS(${CANARY})>>`;
export const FIRST = firstObjectOf(1);
export const file: SampleObject = { dictionary: "/Type/EmbeddedFile", data: `MZ ${CANARY}` };
export const specification = (number: number) =>
  `<</Type/Filespec/F(${CANARY}.exe)/UF(x.exe)/EF<</F ${number} 0 R>>>>`;
export const appearance: SampleObject = {
  dictionary: "/Subtype/Form/BBox[0 0 20 20]",
  data: "1 0 1 rg 0 0 20 20 re f",
};
/** An annotation whose appearance is the object `number`. */
export const annotation = (subtype: string, more: string, number = FIRST) =>
  `<</Subtype/${subtype}/Rect[5 5 25 25]/F 4/AP<</N ${number} 0 R>>${more}>>`;

export async function strip(pdf: Buffer, options?: StripPdfOptions): Promise<Buffer> {
  const before = Buffer.from(pdf);
  const pieces = await stripPdf(pdf, options);
  expect(pdf.equals(before)).toBe(true);
  return pieces === null ? pdf : Buffer.concat(pieces);
}

export async function drawn(pdf: Buffer, page = 1): Promise<Buffer> {
  const picture = await openPdf(pdf, { page, maxPixels: 1_000_000 });
  return (await picture.decode()).raw().toBuffer();
}

/** The text of a file, of its names without escapes, and of everything in it that inflates. */
export function everythingIn(pdf: Buffer): string {
  const texts = [pdf.toString("latin1")];
  for (let start = pdf.indexOf(0x78); start !== -1; start = pdf.indexOf(0x78, start + 1)) {
    try {
      texts.push(inflateSync(pdf.subarray(start)).toString("latin1"));
    } catch {
      // Not compressed.
    }
  }
  return texts
    .join("\n")
    .replace(/#([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Strips a PDF of the canary, and checks that its first page looks the same and that nothing else is left to do. */
export async function clean(pdf: Buffer): Promise<Buffer> {
  expect(everythingIn(pdf)).toContain(CANARY);
  const stripped = await strip(pdf);
  const text = everythingIn(stripped);
  expect(text).not.toContain(CANARY);
  expect(text).not.toMatch(/\/(?:JavaScript|Launch|EmbeddedFiles?|XFA|AA|EF|AF|FileAttachment)\b/);
  expect((await drawn(stripped)).equals(await drawn(pdf))).toBe(true);
  expect(await stripPdf(stripped)).toBeNull();
  return stripped;
}

/** A drawn page with these annotations, fields and objects. */
export function document({
  catalogue = "",
  entries = "",
  annotations = [] as string[],
  objects = [] as SampleObject[],
}): Buffer {
  const list = annotations.length === 0 ? "" : `/Annots[${annotations.join(" ")}]`;
  return samplePdf([{ content: QUARTERS, entries: entries + list }], objects, { catalogue });
}

export const link = (action: string) => `<</Subtype/Link/Rect[5 5 25 25]/Border[0 0 0]/A ${action}>>`;
