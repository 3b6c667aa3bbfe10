import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, createImages, type Images } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeWith } from "../packages/imaging/test/pdf-encodings.ts";
import { firstObjectOf, type SampleObject, samplePdf } from "./support/pdf-samples.ts";
import { programs, run } from "./support/programs.ts";
import {
  personalTagsIn,
  type Rendition,
  readBack,
  SECRETS,
  secretPicture,
  secretsIn,
  withFile,
} from "./support/secret-pictures.ts";

let directory: string;
let images: Images;
let jpeg: Buffer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "outrigger-embedded-pdf-"));
  images = createImages({
    storage: createFsBlobStore({ directory }),
    renderer: createRenderer({ workers: 1, timeoutMs: 60_000 }),
    publicUrl: "https://h.example",
  });
  jpeg = await secretPicture("jpg");
  expect(secretsIn(jpeg)).toEqual(Object.values(SECRETS));
});
afterAll(async () => {
  await images.close();
  rmSync(directory, { recursive: true });
});

const SIZE = "/Width 60/Height 40/ColorSpace/DeviceRGB/BitsPerComponent 8";

/** Content that draws an inline image. */
function inline(filter: string, data: Buffer, before = "q 60 0 0 40 0 0 cm"): Buffer {
  const head = `${before} BI /W 60/H 40/CS/RGB/BPC 8/F${filter} ID `;
  return Buffer.concat([Buffer.from(head), data, Buffer.from("\nEI Q ")]);
}

/** Reads the file back, and expects neither a search nor ExifTool nor Poppler to find a secret in it. */
async function expectClean(pdf: Buffer, pictures: number, renditions: readonly Rendition[]): Promise<void> {
  const files = await readBack(images, pdf, "application/pdf", renditions);
  const [original = Buffer.alloc(0)] = files;
  expect((await drawn(original)).equals(await drawn(pdf))).toBe(true);
  for (const file of files) expect(secretsIn(file)).toEqual([]);
  expect(await personalTagsIn(files)).toEqual([]);
  const found = await Promise.all(files.map(picturesIn));
  expect(found[0]).toHaveLength(pictures);
  expect(await personalTagsIn(found.flat())).toEqual([]);
}

/** The pictures that Poppler finds, as they are stored, by extension. */
function picturesIn(pdf: Buffer): Promise<Buffer[]> {
  return withFile(pdf, "pdf", async (path, folder) => {
    const { status, stderr } = await run(programs.pdfimages, ["-all", path, join(folder, "picture")]);
    expect(status, stderr).toBe(0);
    const names = readdirSync(folder).filter((name) => name.startsWith("picture"));
    return names.map((name) => readFileSync(join(folder, name)));
  });
}

async function drawn(pdf: Buffer): Promise<Buffer> {
  const { status, stdout, stderr } = await run(programs.pdftoppm, ["-r", "72"], { input: pdf });
  expect(status, stderr).toBe(0);
  return stdout;
}

const ALL = ["ASCIIHexDecode", "ASCII85Decode", "LZWDecode", "RunLengthDecode"];
const SHORT: Record<string, string> = {
  ...{ DCTDecode: "DCT", FlateDecode: "Fl", ASCII85Decode: "A85", ASCIIHexDecode: "AHx" },
  ...{ RunLengthDecode: "RL", LZWDecode: "LZW" },
};
const named = (filters: readonly string[]) => `[${filters.map((name) => `/${name}`).join(" ")}]`;
const short = (filters: readonly string[]) => named(filters.map((name) => SHORT[name] ?? name));

test("JPEG and JPEG 2000 pictures behind filters in every spelling, and inline JPEGs, have no metadata in the original and in PDF renditions, and look the same", async () => {
  const inlined = [
    ["DCTDecode"],
    ["ASCII85Decode", "DCTDecode"],
    ["ASCIIHexDecode", "FlateDecode", "DCTDecode"],
  ];
  const contents = inlined.map((filters) => inline(short(filters), encodeWith(filters, jpeg)));
  const [plain = jpeg, encoded = jpeg] = contents;
  // Poppler takes all that follows an inline JPEG for its end.
  contents.push(Buffer.concat([plain, encoded]));
  const first = firstObjectOf(1 + 2 * contents.length);
  const objects: SampleObject[] = [];
  const add = (object: SampleObject) => `${first + objects.push(object) - 1} 0 R`;
  const picture = (filter: string, data: Buffer) =>
    add({ dictionary: `/Type/XObject/Subtype/Image${SIZE}/Filter${filter}`, data });

  const pictures = [["DCTDecode"], ["FlateDecode", "DCTDecode"], [...ALL, "DCTDecode"]].flatMap((filters) => {
    const data = encodeWith(filters, jpeg);
    const escaped = add(named(filters).replaceAll("D", "#44"));
    const names = filters.map((name) => add(`/${name}`)).join(" ");
    const nulls = filters.map(() => "null").join(" ");
    const spellings = [
      named(filters),
      `${named(filters)}/DecodeParms[${nulls}]`,
      ` ${escaped}`,
      `[${names}]`,
    ];
    return [...spellings, short(filters)].map((filter) => picture(filter, data));
  });
  const jpx = await secretJpx();
  for (const filters of [["JPXDecode"], ["FlateDecode", "JPXDecode"], ["ASCII85Decode", "JPXDecode"]])
    pictures.push(picture(named(filters), encodeWith(filters, jpx)));
  const cell = (index: number) =>
    `q 12 0 0 10 ${(index % 5) * 12} ${Math.floor(index / 5) * 10} cm /I${index} Do Q`;
  const page = {
    content: pictures.map((_, index) => cell(index)).join(" "),
    resources: `/XObject<<${pictures.map((object, index) => `/I${index} ${object}`).join("")}>>`,
  };
  const inlinePages = [[], [...ALL, "FlateDecode"]].flatMap((filters) =>
    contents.map((content) => {
      const dictionary = filters.length === 0 ? "" : `/Filter${named(filters)}`;
      return { entries: `/Contents ${add({ dictionary, data: encodeWith(filters, content) })}` };
    }),
  );
  const pdf = samplePdf([page, ...inlinePages], objects);
  await expectClean(pdf, pictures.length + inlinePages.length, [
    ...[1, 5, 9].map((page) => ({ format: "pdf", page }) as const),
    { format: "pdf", resize: "90x" },
  ]);
});

/** A JPEG 2000 picture with EXIF, XMP and a comment. */
async function secretJpx(): Promise<Buffer> {
  const { stdout } = await run(programs.convert, ["-size", "60x40", "gradient:red-blue", "jp2:-"]);
  const box = (type: string, data: string) => {
    const bytes = Buffer.from(`\0\0\0\0${type}${data}`, "latin1");
    bytes.writeUInt32BE(bytes.length);
    return bytes;
  };
  const at = stdout.indexOf("jp2c") - 4;
  const comment = Buffer.from(`\xff\x64\0\0\0\x01${SECRETS.author}`, "latin1");
  comment.writeUInt16BE(comment.length - 2, 2);
  const size = stdout.indexOf(Buffer.of(0xff, 0x51), at);
  const segmentEnd = size + 2 + stdout.readUInt16BE(size + 2);
  const codestream = Buffer.concat([
    stdout.subarray(at + 8, segmentEnd),
    comment,
    stdout.subarray(segmentEnd),
  ]);
  const jpx = Buffer.concat([
    ...[stdout.subarray(0, at), box("uuid", SECRETS.place), box("xml ", SECRETS.camera), box("jp2c", "")],
    codestream,
  ]);
  jpx.writeUInt32BE(codestream.length + 8, jpx.length - codestream.length - 8);
  return jpx;
}

const FIRST = firstObjectOf(1);

test("inline JPEGs of forms, patterns and glyphs, and the thumbnail of a page, have no metadata", async () => {
  const entries = "/Resources<<>>/BBox[0 0 60 40]";
  const content = inline("[/A85 /DCT]", encodeWith(["ASCII85Decode", "DCTDecode"], jpeg));
  const [form, pattern, glyph, font, thumbnail] = [0, 1, 2, 3, 4].map((index) => FIRST + index);
  const page = {
    content: "/F Do /Pattern cs /P scn 0 0 60 40 re f BT /T 40 Tf (a) Tj ET",
    resources: `/XObject<</F ${form} 0 R>>/Pattern<</P ${pattern} 0 R>>/Font<</T ${font} 0 R>>`,
    entries: `/Thumb ${thumbnail} 0 R`,
  };
  const pdf = samplePdf(
    [page],
    [
      { dictionary: `/Type/XObject/Subtype/Form${entries}`, data: content },
      {
        dictionary: `/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/XStep 60/YStep 40${entries}/Filter[/AHx/Fl]`,
        data: encodeWith(["ASCIIHexDecode", "FlateDecode"], content),
      },
      { dictionary: "", data: Buffer.concat([Buffer.from("1000 0 d0 "), content]) },
      `<</Type/Font/Subtype/Type3/FontBBox[0 0 60 40]/FontMatrix[.01 0 0 .01 0 0]/Encoding<</Differences[97/a]>>/FirstChar 97/LastChar 97/Widths[1000]/CharProcs<</a ${glyph} 0 R>>/Resources<<>>>>`,
      { dictionary: `${SIZE}/Filter[/A85/DCT]`, data: encodeWith(["ASCII85Decode", "DCTDecode"], jpeg) },
    ],
  );
  const [original = Buffer.alloc(0), ...renditions] = await readBack(images, pdf, "application/pdf", [
    { format: "pdf", page: 1 },
    { format: "pdf", resize: "90x" },
  ]);
  expect((await drawn(original)).equals(await drawn(pdf))).toBe(true);
  for (const file of [original, ...renditions]) expect(secretsIn(file)).toEqual([]);
});

test("authors of annotations and threads leave a PDF, and the names of form fields stay", async () => {
  const annotations = [
    `<</Type/Annot/Subtype/Text/Rect[1 1 9 9]/T(${SECRETS.author})/Contents(kept text)>>`,
    `<</Subtype/Highlight/Rect[1 1 9 9]/QuadPoints[1 9 9 9 1 1 9 1]/T ${FIRST} 0 R>>`,
    "<</Subtype/Widget/Rect[1 1 9 9]/FT/Tx/T(field)/V(kept value)>>",
  ];
  const pdf = samplePdf(
    [{ entries: `/Annots[${annotations.join("")}]` }],
    [
      `(${SECRETS.author})`,
      `<</Type/Thread/F ${FIRST + 2} 0 R/I<</Author(${SECRETS.author})/Title(${SECRETS.file})>>>>`,
      `<</T ${FIRST + 1} 0 R/N ${FIRST + 2} 0 R/V ${FIRST + 2} 0 R/P 3 0 R/R[0 0 9 9]>>`,
      `<</F ${FIRST + 2} 0 R/I ${FIRST + 4} 0 R>>`,
      `<</Author(${SECRETS.author})>>`,
    ],
    { catalogue: `/Threads[${FIRST + 1} 0 R ${FIRST + 3} 0 R]` },
  );
  const [original = Buffer.alloc(0)] = await readBack(images, pdf, "application/pdf", []);
  expect(secretsIn(original)).toEqual([]);
  for (const kept of ["kept text", "(field)", "kept value"]) expect(original.includes(kept)).toBe(true);
});
