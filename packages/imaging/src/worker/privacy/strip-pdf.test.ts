import { deflateSync, inflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { compressedPdf, updatedPdf } from "../../../../../test/support/metadata-samples.ts";
import {
  encryptedPdf,
  QUARTERS,
  restrictedPdf,
  type SampleObject,
  samplePdf,
} from "../../../../../test/support/pdf-samples.ts";
import { drawn, everythingIn, FIRST, strip } from "../../../test/acting-pdfs.ts";
import { stripPdf } from "./strip-pdf.ts";

const SECRET = "a secret";
const page = { content: QUARTERS };
const XMP = { dictionary: "/Type/Metadata/Subtype/XML", data: `<x:xmpmeta>${SECRET}</x:xmpmeta>` };

/** Strips a PDF, and checks that its page looks the same and that nothing is left to do. */
async function stripAll(pdf: Buffer): Promise<Buffer> {
  const stripped = await strip(pdf);
  expect(stripped.includes(SECRET)).toBe(false);
  expect(await drawn(stripped)).toEqual(await drawn(pdf));
  expect(await stripPdf(stripped)).toBeNull();
  return stripped;
}

function inflatedStreams(pdf: Buffer): string {
  const streams = pdf.toString("latin1").matchAll(/FlateDecode.*?stream\n(.*?)\nendstream/gs);
  return [...streams].map(([, data = ""]) => inflateSync(Buffer.from(data, "latin1")).toString()).join("\n");
}

describe("stripPdf removes document information", () => {
  test.each([
    ["in literal strings", `<</Author(${SECRET})/CreationDate(D:20240102)>>`],
    ["between nested and escaped parentheses", `<</Title((\\() ${SECRET} >> endobj)/X 1>>`],
    ["in a hexadecimal string", `<</Author<${Buffer.from(SECRET).toString("hex")}>>>`],
    ["under a key of its own", `<</Wohnort(${SECRET})>>`],
    ["that is cut off", `<</Author(${SECRET}`],
  ])("of %s", async (_, information) => {
    const original = samplePdf([page], [information], { trailer: `/Info ${FIRST} 0 R` });
    const stripped = await stripAll(original);
    expect(stripped.includes(Buffer.from(SECRET).toString("hex"))).toBe(false);
  });

  test("with the strings that it refers to", async () => {
    const objects = [`<</Author ${FIRST + 1} 0 R>>`, `(${SECRET})`];
    await stripAll(samplePdf([page], objects, { trailer: `/Info ${FIRST} 0 R` }));
  });

  test("of superseded revisions, also without a trailer that names it", async () => {
    const original = samplePdf([page], [`<</Author(${SECRET})>>`], { trailer: `/Info ${FIRST} 0 R` });
    const updated = updatedPdf(
      original,
      { [FIRST]: `<</Producer(another ${SECRET})>>` },
      `/Info ${FIRST} 0 R`,
    );
    await stripAll(updated);
    await stripAll(samplePdf([page], [`<</Creator(${SECRET})/ModDate(D:20240102)>>`]));
  });

  test("from a trailer that holds it directly", async () => {
    await stripAll(samplePdf([page], [], { trailer: `/Info<</Author(${SECRET})>>` }));
  });

  test("and keeps an object of a later revision that reuses its number", async () => {
    const original = samplePdf([page], [`<</Author(${SECRET})>>`], { trailer: `/Info ${FIRST} 0 R` });
    const outline = "<</Title(A chapter)/Parent 1 0 R>>";
    const pdf = updatedPdf(original, {
      1: `<</Type/Catalog/Pages 2 0 R/Outlines<</First ${FIRST} 0 R>>>>`,
      [FIRST]: outline,
    });
    expect((await stripAll(pdf)).includes("(A chapter)")).toBe(true);
  });
});

describe("stripPdf removes XMP", () => {
  test.each([
    ["the document", [XMP], { catalogue: `/Metadata ${FIRST} 0 R` }, {}],
    ["a page", [XMP], {}, { entries: `/Metadata ${FIRST} 0 R` }],
    ["nothing any more", [XMP], {}, {}],
    ["the document, untyped", [{ data: SECRET }], { catalogue: `/Metadata ${FIRST} 0 R` }, {}],
  ])("of %s", async (_, objects, options, entries) => {
    await stripAll(samplePdf([{ ...page, ...entries }], objects, options));
  });

  test("that is compressed, with its length in another object", async () => {
    const data = deflateSync(XMP.data);
    const packed = { dictionary: "/Type/Metadata/Filter/FlateDecode", data };
    const original = samplePdf([page], [packed]);
    const length = original.lastIndexOf(`/Length ${data.length}`);
    original.write("/Length 9 0 R".slice(0, `/Length ${data.length}`.length), length, "latin1");
    expect((await stripAll(original)).includes(data)).toBe(false);
  });
});

describe("stripPdf removes private data of programs", () => {
  test("with all objects that nothing else refers to", async () => {
    const objects: SampleObject[] = [
      `<</Illustrator<</LastModified(${SECRET})/Private ${FIRST + 1} 0 R>>>>`,
      `<</Data ${FIRST + 2} 0 R/Font ${FIRST + 3} 0 R/Page 3 0 R>>`,
      { data: `${SECRET}: the whole drawing` },
      "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ];
    const resources = `/Font<</F ${FIRST + 3} 0 R>>`;
    const entries = `/PieceInfo ${FIRST} 0 R`;
    const stripped = await stripAll(samplePdf([{ ...page, resources, entries }], objects));
    expect(stripped.includes("/BaseFont/Helvetica")).toBe(true);
  });

  test("inside the page object", async () => {
    await stripAll(samplePdf([{ ...page, entries: `/PieceInfo<</X<</Private(${SECRET})>>>>` }]));
  });
});

describe("stripPdf keeps what only has the keys of a thread or an annotation:", () => {
  const text = "BT /F 40 Tf 10 5 Td (FIT) Tj ET";
  const glyph = (x: number) => ({ data: `40 0 0 0 40 40 d1 ${x} 0 9 30 re f` });
  const type3 = (characters: string) =>
    `<</Type/Font/Subtype/Type3/FontBBox[0 0 40 40]/FontMatrix[.02 0 0 .02 0 0]/Encoding<</Differences[70/F 73/I 84/T]>>/FirstChar 70/LastChar 84/Widths[${"40 ".repeat(15)}]/CharProcs ${characters}/Resources<<>>>>`;
  const characters = `<</F ${FIRST + 1} 0 R/I ${FIRST + 2} 0 R/T ${FIRST + 3} 0 R>>`;
  const glyphs = [0, 10, 20].map(glyph);
  const forms = [0, 30].map((x) => ({
    dictionary: "/Subtype/Form/BBox[0 0 60 40]",
    data: `0 0 1 rg ${x} 5 20 20 re f`,
  }));
  const fontsAndStates = `/Font<</F ${FIRST} 0 R/I<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>/T ${FIRST} 0 R>>/ExtGState<</F ${FIRST + 1} 0 R/I<</ca .5>>/T<</ca 1>>>>`;
  const states = `/AP<</N<</F ${FIRST} 0 R/I ${FIRST + 1} 0 R>>>>/AS/I`;
  test.each<[string, string, Buffer]>([
    [
      "glyphs F, I and T",
      "/CharProcs",
      samplePdf([{ content: text, resources: `/Font<</F ${FIRST} 0 R>>` }], [type3(characters), ...glyphs]),
    ],
    [
      "glyphs listed in another object",
      "/CharProcs",
      samplePdf(
        [{ content: text, resources: `/Font<</F ${FIRST} 0 R>>` }],
        [type3(`${FIRST + 4} 0 R`), ...glyphs, characters],
      ),
    ],
    [
      "forms named F and I",
      "/XObject",
      samplePdf(
        [{ content: "/F Do /I Do", resources: `/XObject<</F ${FIRST} 0 R/I ${FIRST + 1} 0 R>>` }],
        forms,
      ),
    ],
    [
      "fonts and states named F, I and T",
      "/Helvetica",
      samplePdf(
        [{ content: "/I gs BT /I 40 Tf 10 5 Td (a) Tj ET", resources: fontsAndStates }],
        ["<</Type/Font/Subtype/Type1/BaseFont/Courier>>", "<</ca 1>>"],
      ),
    ],
    [
      "appearance states F and I",
      "/AP<</N<</F ",
      samplePdf(
        [{ ...page, entries: `/Annots[<</Type/Annot/Subtype/Stamp/Rect[5 5 25 25]/F 4${states}>>]` }],
        forms,
      ),
    ],
    [
      "destinations F and I",
      "/I<</D[",
      samplePdf([page], ["[3 0 R/Fit]"], { catalogue: `/Dests<</F ${FIRST} 0 R/I<</D[3 0 R/Fit]>>>>` }),
    ],
    [
      "classes F and I",
      "(a table)",
      samplePdf([page], ["<</O/List>>", "<</O/Table/Summary(a table)>>"], {
        catalogue: `/StructTreeRoot<</ClassMap<</F ${FIRST} 0 R/I ${FIRST + 1} 0 R>>/T(tree)>>`,
      }),
    ],
    [
      "names of form fields",
      "/T(field)",
      samplePdf(
        [{ ...page, entries: `/Annots[${FIRST} 0 R]` }],
        [
          `<</Type/Annot/Subtype/Widget/Rect[5 5 25 25]/Parent ${FIRST + 1} 0 R/T(kid)>>`,
          `<</FT/Tx/T(field)/V(a)/Kids[${FIRST} 0 R]>>`,
        ],
        { catalogue: `/AcroForm<</Fields[${FIRST + 1} 0 R]>>` },
      ),
    ],
  ])("%s", async (_, kept, pdf) => {
    expect((await drawn(pdf)).equals(await drawn(samplePdf([{}])))).toBe(false);
    for (const keepPdfActions of [true, false]) {
      const stripped = await strip(pdf, { keepPdfActions });
      expect(stripped.includes(kept)).toBe(true);
      expect((await drawn(stripped)).equals(await drawn(pdf))).toBe(true);
    }
  });

  test("the author of a thread is removed, and the thread stays", async () => {
    const thread = `<</Type/Thread/F ${FIRST + 1} 0 R/I<</Author ${FIRST + 2} 0 R/Title(${SECRET})>>>>`;
    const catalogue = `/Threads[${FIRST} 0 R]`;
    const pdf = samplePdf([page], [thread, "<</R[0 0 9 9]>>", `(${SECRET})`], { catalogue });
    expect((await stripAll(pdf)).toString("latin1")).toMatch(
      /<<\/F \d+ 0 R\/Type\/Thread>>.*\/R\[0 0 9 9\]/s,
    );
  });
});

describe("stripPdf and object streams:", () => {
  const objects: SampleObject[] = [
    "<</Type/Catalog/Pages 2 0 R/Metadata 6 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 60 40]>>",
    "<</Type/Page/Parent 2 0 R/Contents 5 0 R>>",
    `<</Author(${SECRET} of some length)/Title(Another text)/Producer(A program with a name)>>`,
    { data: QUARTERS },
    XMP,
  ];

  test("document information is removed", async () => {
    const original = compressedPdf(objects, "/Info 4 0 R");
    expect(inflatedStreams(original)).toContain(SECRET);
    const stripped = await stripAll(original);
    expect(inflatedStreams(stripped)).not.toContain(SECRET);
    expect(stripped.toString("latin1")).not.toMatch(/ObjStm|XRef/);
  });

  test("one of an unusual coding is read", async () => {
    const encode = (bytes: Buffer) => Buffer.from(bytes.toString("hex"));
    const original = compressedPdf(objects, "/Info 4 0 R", { filter: "/ASCIIHexDecode", encode });
    const stripped = await strip(original);
    expect(stripped.toString("latin1")).not.toMatch(/ObjStm|XRef|a secret|6120736563726574/);
    expect(await drawn(stripped)).toEqual(await drawn(original));
  });
});

test("stripPdf removes bytes before, between and after the objects, comments and keys of the trailer", async () => {
  const content = `% ${SECRET}\n${QUARTERS} %${SECRET}`;
  const trailer = `/DocChecksum(${SECRET})/ID[(${SECRET})(${SECRET})]`;
  const original = samplePdf([{ content }], [], { trailer }).toString("latin1");
  const commented = original.replaceAll("endobj\n", `endobj\n% ${SECRET}\n`);
  const mailed = Buffer.from(`From: ${SECRET}\r\n\r\n${commented}-- \n${SECRET}`, "latin1");
  const stripped = await strip(mailed);
  expect(everythingIn(stripped)).not.toContain(SECRET);
  expect(await drawn(stripped)).toEqual(await drawn(samplePdf([page])));
  expect(await stripPdf(stripped)).toBeNull();
});

test("stripPdf saves an encrypted document again, and refuses one that needs a password", async () => {
  const stripped = await strip(restrictedPdf);
  expect(stripped.includes("/Encrypt")).toBe(false);
  expect(await drawn(stripped)).toEqual(await drawn(restrictedPdf));
  await expect(stripPdf(encryptedPdf)).rejects.toMatchObject({ code: "unsupported_media" });
});
