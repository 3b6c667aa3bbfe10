import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { meanDifference, type ReadPicture, readPicture } from "./matrix/independent-reader.ts";
import { createOriginals, type Original, type OriginalName } from "./matrix/originals.ts";
import { programs, run } from "./support/programs.ts";
import { withFile } from "./support/secret-pictures.ts";
import { addressOf, type Created, type Site, startSite, upload } from "./support/service.ts";

const ORIGINALS: OriginalName[] = ["png", "jpg", "gif", "svg", "psd", "pdf"];
const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"] as const;
type Format = (typeof FORMATS)[number];

const TYPES: Record<Format, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  gif: "image/gif",
  svg: "image/svg+xml",
  psd: "image/x-photoshop",
  pdf: "application/pdf",
  webp: "image/webp",
  avif: "image/avif",
};

/** Of 255: what palettes, JPEG and two ways to smooth an edge come to in pictures this small. */
const MAX_MEAN_DIFFERENCE = 5;

describe("GET of each original in each format", () => {
  let site: Site;
  let originals: Record<OriginalName, Original>;
  const images = new Map<OriginalName, Created>();

  beforeAll(async () => {
    [site, originals] = await Promise.all([startSite(), createOriginals()]);
    for (const name of ORIGINALS) {
      const { bytes, type } = originals[name];
      images.set(name, await upload(site, bytes, type));
    }
  });
  afterAll(() => site.close());

  function linkTo(name: OriginalName, suffix: string): string {
    return addressOf(site, images.get(name)?.id ?? "", suffix);
  }

  /** What another program makes of the original, at the size in which it is asked for. */
  function expectedPicture(name: OriginalName, width: number, height: number): Promise<ReadPicture> {
    return readPicture(originals[name].bytes, name, { pdfDensity: 2, resize: { width, height } });
  }

  /** Expects that qpdf finds nothing wrong with a PDF. */
  async function expectSound(pdf: Buffer): Promise<void> {
    const { status, stdout } = await withFile(pdf, "pdf", (path) => run(programs.qpdf, ["--check", path]));
    expect([status, String(stdout)]).toEqual([
      0,
      expect.stringContaining("No syntax or stream encoding err"),
    ]);
  }

  describe.each(ORIGINALS)("%s", (name) => {
    test.each(FORMATS)(
      "GET as %s returns a file that other programs read as the same picture",
      async (format) => {
        const response = await fetch(linkTo(name, format));
        expect(response.status).toBe(200);
        expect(response.headers.get("content-type")).toBe(TYPES[format]);
        const { width, height } = originals[name];
        // The page of a PDF is as many points as the picture has pixels, but an original PDF has two pixels a point.
        const pdfDensity = name === "pdf" ? 2 : 1;
        const bytes = Buffer.from(await response.arrayBuffer());
        if (format === "pdf") await expectSound(bytes);
        const picture = await readPicture(bytes, format, { pdfDensity });
        expect({ width: picture.width, height: picture.height }).toEqual({ width, height });
        const difference = meanDifference(picture, await expectedPicture(name, width, height));
        expect(difference).toBeLessThan(MAX_MEAN_DIFFERENCE);
      },
    );

    test.each(FORMATS)("GET as %s with resize returns a picture within the box", async (format) => {
      const response = await fetch(`${linkTo(name, format)}?resize=48x36`);
      expect(response.status).toBe(200);
      const { width, height } = originals[name];
      const scale = Math.min(48 / width, 36 / height);
      const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
      const pdfDensity = name === "pdf" ? 2 : 1;
      const picture = await readPicture(Buffer.from(await response.arrayBuffer()), format, { pdfDensity });
      expect({ width: picture.width, height: picture.height }).toEqual(size);
      const difference = meanDifference(picture, await expectedPicture(name, size.width, size.height));
      expect(difference).toBeLessThan(2 * MAX_MEAN_DIFFERENCE);
    });
  });

  test("the parameter page selects a page of a PDF in every format", async () => {
    for (const format of FORMATS) {
      const response = await fetch(`${linkTo("pdf", format)}?page=2&resize=150x`);
      expect(response.status, format).toBe(200);
      const picture = await readPicture(Buffer.from(await response.arrayBuffer()), format, { pdfDensity: 2 });
      // The upper half is blue on the first page, green on the second.
      const [, green = 0, blue = 255] = picture.rgb.subarray(0, 3);
      expect(green, format).toBeGreaterThan(blue);
    }
    const beyond = await fetch(`${linkTo("pdf", "png")}?page=3`);
    expect(beyond.status).toBe(400);
    expect(await beyond.json()).toMatchObject({ detail: "page must be at most 2" });
  });
});
