import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { updatedPdf } from "../../../../../test/support/metadata-samples.ts";
import {
  pdfOfObjects,
  QUARTERS,
  type SampleObject,
  samplePdf,
} from "../../../../../test/support/pdf-samples.ts";
import { document, drawn, everythingIn, FIRST, strip } from "../../../test/acting-pdfs.ts";
import { exifBlock } from "../../../test/exif-blocks.ts";
import { stripPdf } from "./strip-pdf.ts";

const SECRET = "a secret";
const BLUE = "0 0 1 rg 0 0 60 40 re f";

/** Strips a PDF, which looks as it did and no longer tells the secret. */
async function cleaned(pdf: Buffer): Promise<string> {
  const stripped = await strip(pdf);
  expect((await drawn(stripped)).equals(await drawn(pdf))).toBe(true);
  expect(everythingIn(stripped)).not.toMatch(/a secret|Serial/);
  expect(await stripPdf(stripped)).toBeNull();
  return stripped.toString("latin1");
}

describe("stripPdf cleans a photo inside page content", async () => {
  let photo: Buffer;
  beforeAll(async () => {
    const plain = sharp({ create: { width: 48, height: 64, channels: 3, background: "#a40" } });
    const jpeg = await plain.jpeg().toBuffer();
    const exif = Buffer.concat([Buffer.of(0xff, 0xe1, 0, 104), Buffer.from("Exif\0\0"), exifBlock(6)]);
    const by = Buffer.from(`\xff\xed\0\x0a${SECRET}`, "latin1");
    photo = Buffer.concat([jpeg.subarray(0, 2), exif, by, jpeg.subarray(2)]);
  });
  const head = (filter: string) => `q 50 0 0 30 5 5 cm BI /W 48 /H 64 /CS /RGB /BPC 8 /F ${filter}\n`;
  const page = (contents: string, objects: SampleObject[]) =>
    pdfOfObjects([
      "<</Type/Catalog/Pages 2 0 R>>",
      "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 60 40]>>",
      `<</Type/Page/Parent 2 0 R/Contents ${contents}>>`,
      ...objects,
    ]);
  const joined = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));

  test.each<[string, () => Buffer]>([
    [
      "split before its data",
      () => page("[4 0 R 5 0 R]", [{ data: head("/DCT") }, { data: joined("ID ", photo, "\nEI Q") }]),
    ],
    [
      "split within its entries",
      () =>
        page("[4 0 R 5 0 R]", [
          { data: "q 50 0 0 30 5 5 cm BI /W 48 /H 64" },
          { data: joined("/CS /RGB /BPC 8 /F /DCT ID ", photo, "\nEI Q") },
        ]),
    ],
    [
      "in a stream that says it is something else",
      () =>
        page("4 0 R", [
          {
            dictionary: "/Type/Metadata/Subtype/Image/N 1",
            data: joined(head("/DCT"), "ID ", photo, "\nEI Q"),
          },
        ]),
    ],
    ["without its end mark", () => page("4 0 R", [{ data: joined(head("/DCT"), "ID ", photo) }])],
    [
      "behind Flate",
      () => page("4 0 R", [{ data: joined(head("[/Fl/DCT]"), "ID ", deflateSync(photo), "\nEI Q") }]),
    ],
  ])("%s", async (_, make) => {
    await cleaned(make());
  });

  test("and refuses one that it cannot read", async () => {
    const pdf = page("4 0 R", [{ data: joined(QUARTERS, " (", photo.toString("latin1"), ") pop ", photo) }]);
    await expect(stripPdf(pdf)).rejects.toMatchObject({ code: "unsupported_media" });
  });
});

test("stripPdf removes values of signatures, and what is not drawn", async () => {
  const signature = `<</Type/Sig/Name(${SECRET})/Location(${SECRET})/ByteRange[0 1 2 3]/Contents<${"ab".repeat(40)}>>>`;
  const form = {
    dictionary: "/Subtype/Form/BBox[0 0 20 20]/LastModified(a secret)",
    data: "1 0 1 rg 0 0 20 20 re f",
  };
  const field = (value: string) =>
    `<</Subtype/Widget/FT/Sig/T(signature)/Rect[5 5 25 25]/AP<</N ${FIRST} 0 R>>/V ${value}/NM(${SECRET})/Subj(${SECRET})/M(${SECRET})>>`;
  for (const value of [signature, `${FIRST + 2} 0 R`]) {
    const objects = [form, field(value), signature];
    const catalogue = `/AcroForm<</SigFlags 3/Fields[${FIRST + 1} 0 R]>>/Perms<</DocMDP ${FIRST + 2} 0 R>>/DSS<</X(${SECRET})>>`;
    const text = await cleaned(document({ annotations: [`${FIRST + 1} 0 R`], objects, catalogue }));
    expect(text).toContain("/T(signature)");
    expect(text).not.toContain("abab");
  }
});

describe("stripPdf writes the objects that are drawn:", () => {
  const original = samplePdf([{ content: QUARTERS }], [`<</Author(${SECRET})>>`]);

  test("the later one of two", async () => {
    const later = { 4: `<</Length ${BLUE.length}>>\nstream\n${BLUE}\nendstream` };
    expect(await cleaned(updatedPdf(original, later))).not.toContain("1 1 0 rg");
  });

  test("of one in the table and one behind it, one", async () => {
    const copy = `4 0 obj\n<</Length ${BLUE.length}>>\nstream\n${BLUE}\nendstream\nendobj\n`;
    const text = original.toString("latin1");
    const table = text.indexOf("xref\n");
    const behind =
      text.slice(0, table) +
      copy +
      text.slice(table).replace(/startxref\n\d+/, `startxref\n${table + copy.length}`);
    await cleaned(Buffer.from(behind, "latin1"));
  });

  test("not one that is free, in a table or in a stream", async () => {
    const square = `<</Subtype/Square/Rect[5 5 25 25]/C[0 1 1]/IC[0 1 1]/Contents(${SECRET})>>`;
    const annotated = document({ annotations: [`${FIRST} 0 R`], objects: [square] });
    const update = updatedPdf(annotated, { 9: "null" }).toString("latin1");
    const freed = update.replace(/9 1\n\d{10} 00000 n/, `${FIRST} 1\n0000000000 00001 f`);
    const start = /startxref\s+(\d+)/.exec(annotated.toString("latin1"))?.[1];
    const entries = `/Type/XRef/Size 10/Root 1 0 R/Prev ${start}/W[1 2 1]/Index[${FIRST} 1]/Length 4`;
    const stream = `${annotated.toString("latin1")}9 0 obj\n<<${entries}>>\nstream\n\0\0\0\x01\nendstream\nendobj\n`;
    const streamed = `${stream}startxref\n${annotated.length}\n%%EOF\n`;
    for (const text of [freed, streamed]) {
      const stripped = await strip(Buffer.from(text, "latin1"));
      expect(everythingIn(stripped)).not.toContain(SECRET);
      expect((await drawn(stripped)).equals(await drawn(document({})))).toBe(true);
      expect(await stripPdf(stripped)).toBeNull();
    }
  });

  test("not a page that the document no longer shows", async () => {
    const pages = samplePdf(
      [{ content: QUARTERS }, { content: `% ${SECRET}\n${BLUE}`, entries: `/Note(${SECRET})` }],
      [],
      { catalogue: "/OpenAction[5 0 R/Fit]" },
    );
    const text = await cleaned(
      updatedPdf(pages, { 2: "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 60 40]>>" }),
    );
    expect(text).not.toContain(BLUE);
  });
});

test.each([
  ["a page tree that holds itself", "<</Type/Pages/Kids[3 0 R 2 0 R]/Count 2/MediaBox[0 0 60 40]>>"],
  ["a parent that is its own", "<</Type/Pages/Kids[3 0 R]/Count 1/Parent 2 0 R/MediaBox[0 0 60 40]>>"],
])("stripPdf writes a plain tree for %s", async (_, tree) => {
  const pdf = pdfOfObjects([
    "<</Type/Catalog/Pages 2 0 R>>",
    tree,
    "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>",
    { data: QUARTERS },
  ]);
  expect(await cleaned(pdf)).toContain("/Type/Pages");
});
