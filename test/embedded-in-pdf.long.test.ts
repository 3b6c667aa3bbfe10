import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, createImages, type Images } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeWith } from "../packages/imaging/test/pdf-encodings.ts";
import { firstObjectOf, type SampleObject, type SamplePage, samplePdf } from "./support/pdf-samples.ts";
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

const FIRST = firstObjectOf(1);

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
const DRAWN = "q 60 0 0 40 0 0 cm /I Do Q";

/** A page that draws an image XObject with these entries and data. */
function withImage(entries: string, data: Buffer, more: SampleObject[] = []): Buffer {
  const object = { dictionary: `/Type/XObject/Subtype/Image${SIZE}${entries}`, data };
  return samplePdf([{ content: DRAWN, resources: `/XObject<</I ${FIRST} 0 R>>` }], [object, ...more]);
}

/** Content that draws an inline image. */
function inline(entries: string, data: Buffer, before = "q 60 0 0 40 0 0 cm BI", after = "\nEI Q"): Buffer {
  return Buffer.concat([
    Buffer.from(`${before} /W 60/H 40/CS/RGB/BPC 8${entries} ID `),
    data,
    Buffer.from(after),
  ]);
}

/** A page whose content has filters of its own. */
function withContent(filters: readonly string[], content: Buffer, more: Partial<SamplePage> = {}): Buffer {
  const dictionary = filters.length === 0 ? "" : `/Filter[${filters.map((name) => `/${name}`).join("")}]`;
  const entries = `/Contents ${FIRST} 0 R`;
  return samplePdf([{ entries, ...more }], [{ dictionary, data: encodeWith(filters, content) }]);
}

/** Reads the file back, and expects neither a search nor ExifTool nor Poppler to find a secret in it. */
async function expectClean(pdf: Buffer, pictures = 1, renditions: readonly Rendition[] = []): Promise<void> {
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

const chains = [
  ["DCTDecode"],
  ["FlateDecode", "DCTDecode"],
  ["ASCIIHexDecode", "ASCII85Decode", "LZWDecode", "RunLengthDecode", "DCTDecode"],
];
/** Every way to a PDF of a PDF. */
const RENDITIONS: readonly Rendition[] = [
  { format: "pdf", page: 1 },
  { format: "pdf", resize: "90x" },
];
const SHORT: Record<string, string> = {
  ...{ DCTDecode: "DCT", FlateDecode: "Fl", ASCII85Decode: "A85", ASCIIHexDecode: "AHx" },
  ...{ RunLengthDecode: "RL", LZWDecode: "LZW" },
};
const named = (filters: readonly string[]) => `[${filters.map((name) => `/${name}`).join(" ")}]`;

test.each(chains)(
  "a JPEG behind %s %s %s %s %s has no metadata in the original and in PDF renditions",
  async (...filters) => {
    const data = encodeWith(filters, jpeg);
    await expectClean(withImage(`/Filter${named(filters)}`, data), 1, RENDITIONS);
    await expectClean(withImage(`/Filter${named(filters.map((name) => SHORT[name] ?? name))}`, data));
    const nulls = filters.map(() => "null").join(" ");
    await expectClean(withImage(`/Filter${named(filters)}/DecodeParms[${nulls}]`, data));
    // Named in full by other objects, and with escapes.
    const indirect = [named(filters).replaceAll("D", "#44"), ...filters.map((name) => `/${name}`)];
    await expectClean(withImage(`/Filter ${FIRST + 1} 0 R`, data, indirect));
    const items = filters.map((_, index) => `${FIRST + 2 + index} 0 R`).join(" ");
    await expectClean(withImage(`/Filter[${items}]`, data, indirect));
  },
);

test.each([[[]], [["ASCIIHexDecode", "ASCII85Decode", "LZWDecode", "RunLengthDecode", "FlateDecode"]]])(
  "an inline JPEG in content behind %j has no metadata",
  async (filters) => {
    for (const chain of [
      ["DCTDecode"],
      ["ASCII85Decode", "DCTDecode"],
      ["ASCIIHexDecode", "FlateDecode", "DCTDecode"],
    ]) {
      const names = named(chain.map((name) => SHORT[name] ?? name));
      await expectClean(withContent(filters, inline(`/F${names}`, encodeWith(chain, jpeg))));
    }
    const twice = Buffer.concat([
      inline("/Filter/DCTDecode", jpeg),
      inline(
        "/F[/A85 /DCT]/DP[null null]",
        encodeWith(["ASCII85Decode", "DCTDecode"], jpeg),
        "\nq 30 0 0 20 0 0 cm BI",
      ),
    ]);
    // Poppler takes all that follows an inline JPEG for its end.
    await expectClean(withContent(filters, twice), 1, RENDITIONS);
  },
);

test("inline JPEGs of forms, patterns and glyphs, and the thumbnail of a page, have no metadata", async () => {
  const entries = "/Resources<<>>/BBox[0 0 60 40]";
  const content = inline("/F[/A85 /DCT]", encodeWith(["ASCII85Decode", "DCTDecode"], jpeg));
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
  const [original = Buffer.alloc(0), ...renditions] = await readBack(
    images,
    pdf,
    "application/pdf",
    RENDITIONS,
  );
  expect((await drawn(original)).equals(await drawn(pdf))).toBe(true);
  for (const file of [original, ...renditions]) expect(secretsIn(file)).toEqual([]);
});

test("JPEG 2000 pictures lose EXIF, XMP and comments, and look the same", async () => {
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
  const last = jpx.length - codestream.length - 8;
  jpx.writeUInt32BE(codestream.length + 8, last);
  for (const filters of [["JPXDecode"], ["FlateDecode", "JPXDecode"], ["ASCII85Decode", "JPXDecode"]]) {
    await expectClean(withImage(`/Filter${named(filters)}`, encodeWith(filters, jpx)), 1, RENDITIONS);
  }
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
