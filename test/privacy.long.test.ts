import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stripMetadata } from "../packages/imaging/src/worker/privacy/strip-metadata.ts";
import { everythingIn } from "../packages/imaging/test/acting-pdfs.ts";
import { QUARTERS, samplePdf } from "./support/pdf-samples.ts";
import { animatedGif, photo } from "./support/pictures.ts";
import { programs, run } from "./support/programs.ts";
import { samplePsd } from "./support/psd-samples.ts";
import { exiftool } from "./support/secret-pictures.ts";

type StrippedType = Parameters<typeof stripMetadata>[1];

/** The text that ExifTool writes into every tag it can. No stored file may contain it. */
const SECRET = "Canary-7H3-Bird";
const place = ["-GPSLatitude=47.3769", "-GPSLatitudeRef=N", "-GPSLongitude=8.5417", "-GPSLongitudeRef=E"];
const exif = [
  "Make",
  "Model",
  "Artist",
  "Copyright",
  "UserComment",
  "OwnerName",
  "SerialNumber",
  "LensModel",
];
const iptc = ["Caption-Abstract", "By-line", "Keywords", "City"];
const xmp = ["Creator", "Title", "Description", "PersonInImage", "RawFileName"];
const tagsOf: Record<StrippedType, string[]> = {
  "image/jpeg": [
    ...place,
    ...secrets("EXIF", exif),
    ...secrets("IPTC", iptc),
    ...secrets("XMP", xmp),
    `-Comment=${SECRET}`,
  ],
  "image/png": [
    ...place,
    ...secrets("EXIF", exif),
    ...secrets("XMP", xmp),
    ...secrets("PNG", ["Author", "Comment"]),
  ],
  "image/gif": [...secrets("XMP", xmp), `-Comment=${SECRET}`],
  "image/x-photoshop": [...place, ...secrets("EXIF", exif), ...secrets("IPTC", iptc), ...secrets("XMP", xmp)],
  "application/pdf": [
    ...secrets("PDF", ["Author", "Title", "Subject", "Keywords", "Creator", "Producer"]),
    ...secrets("XMP", xmp),
    "-PDF:CreateDate=2024:01:02 03:04:05",
  ],
};
const extensionOf: Record<StrippedType, string> = {
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/gif": "gif",
  "image/x-photoshop": "psd",
  "application/pdf": "pdf",
};

/** What ExifTool may say about a stripped file: of what kind it is, how its pixels are coded, coloured and turned. */
const harmless = [
  /^(?:SourceFile$|ExifTool:ExifToolVersion$|System:|File:|ICC|JFIF:|Adobe:|IFD0:Orientation$)/,
  /^Composite:(?:ImageSize|Megapixels)$/,
  /^PNG:(?:ImageWidth|ImageHeight|BitDepth|ColorType|Compression|Filter|Interlace|ProfileName)$/,
  /^PNG-pHYs:|^GIF:(?!Comment|XMP)/,
  /^Photoshop:(?:NumChannels|Image(?:Width|Height)|BitDepth|ColorMode|Compression|LayerCount)$/,
  /^Photoshop:(?:[XY]Resolution|DisplayedUnits[XY])$/,
  /^PDF:(?:PDFVersion|Linearized|PageCount)$/,
];

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-privacy-"));
});
afterAll(() => rm(directory, { recursive: true }));

function secrets(group: string, tags: readonly string[]): string[] {
  return tags.map((tag) => `-${group}:${tag}=${SECRET}`);
}

/** The file with all that ExifTool can tell about a person in its type, and whatever `args` add. */
async function describeFile(bytes: Buffer, type: StrippedType, ...args: string[]): Promise<Buffer> {
  const path = join(directory, `described.${extensionOf[type]}`);
  await writeFile(path, bytes);
  await exiftool("-overwrite_original", ...tagsOf[type], ...args, path);
  const described = await readFile(path);
  expect(everythingIn(described)).toContain(SECRET);
  return described;
}

/** What ExifTool finds in a file that it may not. */
async function findings(bytes: Buffer, type: StrippedType): Promise<string[]> {
  const path = join(directory, `examined.${extensionOf[type]}`);
  await writeFile(path, bytes);
  // An array of one object, of tag names with their groups.
  const [tags = {}] = JSON.parse(await exiftool("-j", "-G1", "-a", "-u", "-ee", path)) as Record<
    string,
    unknown
  >[];
  return Object.keys(tags).filter((tag) => !harmless.some((pattern) => pattern.test(tag)));
}

async function strip(bytes: Buffer, type: StrippedType): Promise<Buffer> {
  const before = Buffer.from(bytes);
  const pieces = await stripMetadata(bytes, type);
  expect(bytes.equals(before)).toBe(true);
  expect.assert(pieces !== null);
  return Buffer.concat(pieces);
}

/** Strips, and expects neither ExifTool nor a search of the bytes to find anything. */
async function stripClean(described: Buffer, type: StrippedType): Promise<Buffer> {
  expect(await findings(described, type)).not.toEqual([]);
  const stripped = await strip(described, type);
  expect(everythingIn(stripped)).not.toContain(SECRET);
  expect(await findings(stripped, type)).toEqual([]);
  expect(await stripMetadata(stripped, type)).toBeNull();
  return stripped;
}

/** What a viewer shows: pixels the right way up, orientation and colour profile. */
async function shown(bytes: Buffer) {
  const { orientation, icc, pages, delay, loop } = await sharp(bytes, { animated: true }).metadata();
  const pixels = await sharp(bytes, { animated: true, autoOrient: true })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { orientation: orientation ?? 1, icc, pages, delay, loop, pixels };
}

test.each([
  ["image/jpeg", "jpeg", "II"],
  ["image/png", "png", "MM"],
] as const)("%s keeps pixels, colours and orientation, and nothing else", async (type, format, order) => {
  const plain = await (await photo(60, 40)).withIccProfile("p3").toFormat(format).toBuffer();
  const described = await describeFile(plain, type, "-n", "-Orientation=6", `-ExifByteOrder=${order}`);
  const stripped = await stripClean(described, type);
  expect(await shown(stripped)).toEqual(await shown(described));
  expect((await shown(stripped)).orientation).toBe(6);
});

test("image/gif: keeps frames, timing and repetition, and nothing else", async () => {
  const described = await describeFile(await animatedGif(4), "image/gif");
  const stripped = await stripClean(described, "image/gif");
  expect(await shown(stripped)).toEqual(await shown(described));
});

test("image/x-photoshop: keeps the picture, and nothing else", async () => {
  const channels = [1, 2, 3].map((step) =>
    Array.from({ length: 12 * 9 }, (_, index) => (index * step) % 256),
  );
  const plain = samplePsd({ width: 12, height: 9, channels });
  const described = await describeFile(plain, "image/x-photoshop", "-n", "-Orientation=6");
  const stripped = await stripClean(described, "image/x-photoshop");
  expect(await readByImageMagick(stripped)).toEqual(await readByImageMagick(plain));
});

async function readByImageMagick(psd: Buffer): Promise<Buffer> {
  const { status, stdout, stderr } = await run(programs.convert, ["psd:-[0]", "-depth", "8", "rgb:-"], {
    input: psd,
  });
  expect(status, stderr).toBe(0);
  return stdout;
}

describe("application/pdf", () => {
  const plain = samplePdf([{ content: QUARTERS }, { content: QUARTERS }]);

  test.each([
    ["as it is", []],
    [
      "encrypted, with object streams",
      ["--encrypt", "", "owner", "128", "--use-aes=y", "--", "--object-streams=generate"],
    ],
  ])("keeps the pages, and nothing else: %s", async (_, args) => {
    const described = await describeFile(plain, "application/pdf");
    const rewritten = await qpdf(described, ...args);
    const stripped = await stripClean(rewritten, "application/pdf");
    expect(await readByPoppler(stripped)).toEqual(await readByPoppler(plain));
    await qpdf(stripped, "--check");
  });
});

/** The file that qpdf makes of another; with `--check`, the same. Fails for what qpdf finds wrong. */
async function qpdf(pdf: Buffer, ...args: string[]): Promise<Buffer> {
  const [input, output] = [join(directory, "in.pdf"), join(directory, "out.pdf")];
  await writeFile(input, pdf);
  const isCheck = args.includes("--check");
  const { status, stderr } = await run(programs.qpdf, [...args, input, ...(isCheck ? [] : [output])]);
  expect(status, stderr).toBe(0);
  return isCheck ? pdf : await readFile(output);
}

async function readByPoppler(pdf: Buffer): Promise<Buffer> {
  const { status, stdout, stderr } = await run(programs.pdftoppm, ["-r", "72"], { input: pdf });
  expect(status, stderr).toBe(0);
  return stdout;
}
