import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFsBlobStore, createImages, type Images } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import { type LinkedFile, readPsd, writePsdBuffer } from "ag-psd";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { samplePdf } from "./support/pdf-samples.ts";
import { programs, run } from "./support/programs.ts";
import {
  personalTagsIn,
  readBack,
  SECRETS,
  secretPicture,
  secretsIn,
  withFile,
} from "./support/secret-pictures.ts";

const ID = "20953ddb-9391-11ec-b4f1-c15674f50bc4";
const SIZE = { width: 60, height: 40 };
const imageData = { ...SIZE, data: new Uint8ClampedArray(60 * 40 * 4).fill(200) };
const READ = { skipLayerImageData: true, skipCompositeImageData: true, skipThumbnail: true } as const;

let directory: string;
let images: Images;
const files: Record<string, Buffer> = {};

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "outrigger-embedded-psd-"));
  images = createImages({
    storage: createFsBlobStore({ directory }),
    renderer: createRenderer({ workers: 1, timeoutMs: 60_000 }),
    publicUrl: "https://h.example",
  });
  for (const extension of ["jpg", "png", "gif", "webp"] as const)
    files[extension] = await secretPicture(extension);
  files.pdf = samplePdf([{}], [`<</Author(${SECRETS.author})/Creator(${SECRETS.camera})>>`], {
    trailer: "/Info 5 0 R",
  });
  files.psd = document([{ data: fileOf("jpg") }]);
  files.psb = document([{ data: fileOf("psd") }, { data: fileOf("png") }], { psb: true });
});
afterAll(async () => {
  await images.close();
  rmSync(directory, { recursive: true });
});

function fileOf(extension: string): Buffer {
  return files[extension] ?? Buffer.alloc(0);
}

/** A document of one layer with these files placed in it. */
function document(placed: readonly Partial<LinkedFile>[], options: { psb?: boolean } = {}): Buffer {
  const placedLayer = {
    ...{ id: ID, type: "raster" as const, transform: [0, 0, 60, 0, 60, 40, 0, 40] },
    ...{ ...SIZE, resolution: { value: 72, units: "Density" as const } },
  };
  const linkedFiles = placed.map((file, index) => ({
    ...{ id: ID.replace("2", `${index + 3}`), name: `${SECRETS.file}.jpg`, type: "JPEG", creator: "8BIM" },
    ...file,
  }));
  const child = { name: "layer", imageData, placedLayer: { ...placedLayer, id: linkedFiles[0]?.id ?? ID } };
  return writePsdBuffer({ ...SIZE, imageData, children: [child], linkedFiles }, options);
}

/** The document with another key for its block of placed files. In a PSB some keys have a length of four bytes. */
function withKey(psd: Buffer, key: string): Buffer {
  const renamed = Buffer.from(psd);
  for (const { index } of psd.toString("latin1").matchAll(/8B(?:IM|64)lnk2/g))
    renamed.write(key, index + 4, "latin1");
  return renamed;
}

/** Stores a document, and expects no secret in it, and that it still opens everywhere with the same pixels. */
async function stored(psd: Buffer): Promise<Buffer> {
  const [original = Buffer.alloc(0)] = await readBack(images, psd, "image/x-photoshop", []);
  expect(secretsIn(original)).toEqual([]);
  expect(original.includes("GPS")).toBe(false);
  expect(await personalTagsIn([original])).toEqual([]);
  // The merged picture.
  expect(original.subarray(-200).equals(psd.subarray(-200))).toBe(true);
  await withFile(original, "psd", async (path) => {
    const script =
      "import sys; from psd_tools import PSDImage; p = PSDImage.open(sys.argv[1]); print([l.name for l in p], p.composite().size)";
    const { status, stdout, stderr } = await run(programs.psdPython, ["-c", script, path]);
    expect(status, stderr).toBe(0);
    expect(String(stdout)).toContain("['layer'] (60, 40)");
  });
  return original;
}

test.each(["lnkD", "lnk2", "lnk3"])(
  "files placed in a PSD and a PSB in block %s keep their pixels and lose place, camera, author and name",
  async (key) => {
    for (const psb of [false, true]) {
      const placed = ["jpg", "png", "gif", "webp"].map((extension) => ({ data: fileOf(extension) }));
      const original = await stored(withKey(document(placed, { psb }), key));
      const { linkedFiles = [], children } = readPsd(withKey(original, "lnk2"), READ);
      expect(linkedFiles.map(({ name }) => name)).toEqual(placed.map(() => "placed.jpg"));
      expect(children?.[0]?.placedLayer?.id).toBe(linkedFiles[0]?.id);
      expect(await personalTagsIn(linkedFiles.map(({ data = [] }) => Buffer.from(data)))).toEqual([]);
      for (const [index, { data = Buffer.alloc(0) }] of linkedFiles.entries()) {
        const pixels = (bytes: Uint8Array) => sharp(bytes, { autoOrient: true }).raw().toBuffer();
        expect((await pixels(data)).equals(await pixels(placed[index]?.data ?? data))).toBe(true);
      }
    }
  },
);

test("documents in documents and PDFs are cleaned, also with a description, and other files are dropped", async () => {
  const descriptor = { compInfo: { compID: -1, originalCompID: -1 } };
  const tiff = await sharp(fileOf("jpg"))
    .withExif({ IFD0: { Make: SECRETS.camera } })
    .tiff()
    .toBuffer();
  const original = await stored(
    document([
      ...[
        { data: fileOf("psd") },
        { data: fileOf("psb"), descriptor },
        { data: tiff },
        { data: fileOf("pdf") },
      ],
      ...[{ data: fileOf("jpg"), descriptor, childDocumentID: "a", assetModTime: 1, assetLockedState: 0 }],
      ...[{ data: Buffer.from(`<svg><!--${SECRETS.author}--></svg>`) }, { name: SECRETS.file }],
    ]),
  );
  const { linkedFiles = [] } = readPsd(original, READ);
  expect(linkedFiles).toHaveLength(4);
  expect(linkedFiles[1]?.descriptor).toEqual(descriptor);
  const inner = readPsd(linkedFiles[1]?.data ?? new Uint8Array(), READ).linkedFiles?.[0]?.data;
  const [file] = readPsd(inner ?? new Uint8Array(), READ).linkedFiles ?? [];
  expect(await personalTagsIn([Buffer.from(file?.data ?? [])])).toEqual([]);
  expect((await sharp(file?.data).metadata()).format).toBe("jpeg");
});

test("paths of files outside the document, notes and deep nests are dropped", async () => {
  const paths = {
    fullPath: `file:///${SECRETS.author}`,
    originalPath: SECRETS.author,
    relativePath: SECRETS.author,
  };
  for (const psb of [false, true]) {
    const linkedFile = { fileSize: 9, name: SECRETS.file, ...paths };
    const external = document([{ data: fileOf("jpg") }, { linkedFile }], { psb });
    expect(secretsIn(external)).toContain(SECRETS.file);
    expect(readPsd(await stored(external), READ).linkedFiles).toHaveLength(1);
    const note = withKey(document([{ data: Buffer.from(`Anno ${SECRETS.author}`) }], { psb }), "Anno");
    expect((await stored(note)).includes("Anno")).toBe(false);
  }
  let nest = fileOf("jpg");
  for (let depth = 0; depth < 6; depth++) nest = document([{ data: nest }]);
  await stored(nest);
});
