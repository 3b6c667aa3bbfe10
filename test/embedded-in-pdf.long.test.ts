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
  isPersonal,
  readBack,
  SECRETS,
  secretPicture,
  secretsIn,
  tagsIn,
  withFile,
} from "./support/secret-pictures.ts";

const TIMEOUT = { timeout: 120_000 };
const FIRST = firstObjectOf(1);

let directory: string;
let images: Images;
let jpeg: Buffer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "outrigger-embedded-pdf-"));
  images = createImages({
    storage: createFsBlobStore({ directory }),
    renderer: createRenderer({ workers: 1 }),
    publicUrl: "https://h.example",
  });
  jpeg = await secretPicture("jpg");
  expect(secretsIn(jpeg)).toEqual(Object.values(SECRETS));
}, 60_000);
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

/** Reads the file and its PDF renditions, and expects neither a search nor ExifTool nor Poppler to find a secret. */
async function expectClean(pdf: Buffer, pictures = 1): Promise<void> {
  const files = await readBack(images, pdf, "application/pdf", [
    ...([
      { format: "pdf", page: 1 },
      { format: "pdf", resize: "90x" },
    ] as const),
    { format: "pdf", resize: "40x40", fit: "cover" },
  ]);
  const shown = await drawn(pdf);
  expect((await drawn(files[0] ?? Buffer.alloc(0))).equals(shown)).toBe(true);
  for (const file of files) {
    expect(secretsIn(file)).toEqual([]);
    expect((await tagsIn(file, "pdf")).filter(isPersonal)).toEqual([]);
    const found = await picturesIn(file);
    expect(found).toHaveLength(pictures);
    for (const [extension, bytes] of found)
      expect((await tagsIn(bytes, extension)).filter(isPersonal)).toEqual([]);
  }
}

/** The pictures that Poppler finds, as they are stored, by extension. */
function picturesIn(pdf: Buffer): Promise<[string, Buffer][]> {
  return withFile(pdf, "pdf", async (path, folder) => {
    const { status, stderr } = await run(programs.pdfimages, ["-all", path, join(folder, "picture")]);
    expect(status, stderr).toBe(0);
    const names = readdirSync(folder).filter((name) => name.startsWith("picture"));
    return names.map((name) => [name.split(".")[1] ?? "", readFileSync(join(folder, name))]);
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
  ["ASCII85Decode", "DCTDecode"],
  ["ASCIIHexDecode", "DCTDecode"],
  ["RunLengthDecode", "DCTDecode"],
  ["LZWDecode", "DCTDecode"],
  ["ASCII85Decode", "FlateDecode", "DCTDecode"],
  ["ASCIIHexDecode", "ASCII85Decode", "LZWDecode", "RunLengthDecode", "DCTDecode"],
];
const SHORT: Record<string, string> = {
  ...{ DCTDecode: "DCT", FlateDecode: "Fl", ASCII85Decode: "A85", ASCIIHexDecode: "AHx" },
  ...{ RunLengthDecode: "RL", LZWDecode: "LZW" },
};
const named = (filters: readonly string[]) => `[${filters.map((name) => `/${name}`).join(" ")}]`;

test.each(chains)(
  "a JPEG behind %s %s %s %s %s has no metadata in the original and in PDF renditions",
  TIMEOUT,
  async (...filters) => {
    const data = encodeWith(filters, jpeg);
    await expectClean(withImage(`/Filter${named(filters)}`, data));
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

test.each([
  [[]],
  [["FlateDecode"]],
  [["ASCII85Decode", "FlateDecode"]],
  [["LZWDecode"]],
  [["ASCIIHexDecode"]],
  [["RunLengthDecode"]],
])("an inline JPEG in content behind %j has no metadata", TIMEOUT, async (filters) => {
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
  await expectClean(withContent(filters, twice), 2);
});
