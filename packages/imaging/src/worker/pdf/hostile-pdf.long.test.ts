import { deflateSync } from "node:zlib";
import { isServiceError } from "@outrigger/core";
import { beforeAll, describe, expect, test } from "vitest";
import {
  firstObjectOf,
  pdfOfObjects,
  QUARTERS,
  type SampleObject,
  samplePdf,
} from "../../../../../test/support/pdf-samples.ts";
import { reasonIn } from "../../../test/unreadable.ts";
import { openPdf } from "./open-pdf.ts";
import { transformPdf } from "./transform-pdf.ts";

const limits = { maxPixels: 1_000_000 };
const FIRST = firstObjectOf(1);
const FORM = "/Type/XObject/Subtype/Form/BBox[0 0 60 40]";

async function draw(bytes: Buffer): Promise<Buffer> {
  const picture = await openPdf(bytes, limits);
  const { width, height } = picture.natural;
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(1);
  return (await picture.decode()).raw().toBuffer();
}

/** The outcome: "drawn", or the reason of the refusal. Rethrows everything but `unsupported_media`. */
async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "drawn";
  } catch (error) {
    if (!isServiceError(error) || error.code !== "unsupported_media") throw error;
    return reasonIn(error.message, "application/pdf");
  }
}

const good = samplePdf([{ content: QUARTERS }]);
let goodPixels: Buffer;
beforeAll(async () => {
  goodPixels = await draw(good);
});

/** A form that can draw another one, counted from the first. */
function form(drawn: number): { dictionary: string } {
  return { dictionary: `${FORM}/Resources<</XObject<</F ${FIRST + drawn} 0 R>>>>` };
}

function withForms(content: string, forms: SampleObject[]): Buffer {
  return samplePdf([{ content, resources: `/XObject<</F ${FIRST} 0 R>>` }], forms);
}

describe("a small PDF that needs too much is refused, and the next one is drawn:", () => {
  test.each([
    ["a form that draws itself twice", () => withForms("/F Do", [{ ...form(0), data: "/F Do /F Do" }])],
    [
      "ten forms in each other, each drawn ten times",
      () =>
        withForms("/F Do", [
          ...Array.from({ length: 10 }, (_, depth) => ({ ...form(depth + 1), data: "/F Do ".repeat(10) })),
          { dictionary: FORM, data: "0 0 9 9 re f" },
        ]),
    ],
    [
      "content of 300 MB of zeros, compressed twice",
      () => {
        const once = deflateSync(Buffer.alloc(300_000_000), { level: 1 });
        return compressed(deflateSync(once), "/Filter[/FlateDecode/FlateDecode]");
      },
    ],
    [
      "ten million states saved",
      () => compressed(deflateSync(Buffer.alloc(20_000_000, "q ")), "/Filter/FlateDecode"),
    ],
  ])("%s", async (_, bomb) => {
    expect(await outcomeOf(draw(bomb()))).toBe("it needs too much memory");
    expect((await draw(good)).equals(goodPixels)).toBe(true);
  });

  function compressed(data: Buffer, dictionary: string): Buffer {
    return pdfOfObjects([
      "<</Type/Catalog/Pages 2 0 R>>",
      "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 60 40]>>",
      "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>",
      { dictionary, data },
    ]);
  }
});

describe("a PDF without a page to draw is refused:", () => {
  const pages = (node: string, ...objects: SampleObject[]) =>
    pdfOfObjects(["<</Type/Catalog/Pages 2 0 R>>", `<</Type/Pages/MediaBox[0 0 60 40]${node}>>`, ...objects]);

  test.each([
    ["nothing at all", Buffer.alloc(0), "damaged"],
    ["a header alone", Buffer.from("%PDF-1.7\n%%EOF"), "damaged"],
    ["another file", Buffer.from("GIF89a".padEnd(999)), "damaged"],
    ["no page tree", pdfOfObjects(["<</Type/Catalog>>"]), "damaged: it has no pages"],
    ["an empty page tree", pages("/Kids[]/Count 0"), "damaged: it has no pages"],
    ["a page that is not there", pages("/Kids[9 0 R]/Count 1"), "damaged: its page 1 cannot be read"],
    ["a page tree that holds itself", pages("/Kids[2 0 R]/Count 1"), "damaged: its page 1 cannot be read"],
    [
      "two page trees that hold each other",
      pages("/Kids[3 0 R]/Count 2", "<</Type/Pages/Parent 2 0 R/Kids[2 0 R]/Count 2>>"),
      "damaged: its page 1 cannot be read",
    ],
  ])("%s", async (_, bytes, reason) => {
    expect(await outcomeOf(openPdf(bytes, limits))).toBe(reason);
    expect(await outcomeOf(transformPdf(bytes, { scale: 2 }))).toBe(reason);
  });
});

test.each([
  ["0 0 0 0", "drawn", [1224, 1584]],
  ["(a) null 5", "drawn", [1224, 1584]],
  ["0 0 14400 14400", "drawn", [28_800, 28_800]],
  ["0 0 1000000000 1000000000", "its page 1 is wider or higher than 200000 points", null],
  ["0 0 60 40]/CropBox[70 50 90 60", "its page 1 has no area", null],
  ["0 0 .001 .001", "drawn", [1, 1]],
] as const)("a page of [%s] is %s", async (box, outcome, size) => {
  const bytes = samplePdf([{ content: QUARTERS, entries: `/MediaBox[${box}]` }]);
  expect(await outcomeOf(draw(bytes))).toBe(outcome);
  if (size !== null) {
    const { natural } = await openPdf(bytes, limits);
    expect([natural.width, natural.height]).toEqual(size);
  }
});

test("a PDF that declares a billion pages and has one is opened without a search for them", async () => {
  const bytes = pdfOfObjects([
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 2000000000>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 60 40]>>",
  ]);
  const began = process.cpuUsage();
  expect((await openPdf(bytes, limits)).pages).toBeGreaterThanOrEqual(1);
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(20_000);
});
