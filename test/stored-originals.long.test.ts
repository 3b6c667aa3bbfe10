import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  hdrParts,
  MAP_XMP,
  multiPicture,
  pictureXmp,
  withSegments,
} from "../packages/imaging/test/hdr-jpegs.ts";
import { jpegPhoto, svgDrawing } from "./support/pictures.ts";
import { programs, run } from "./support/programs.ts";
import { addressOf, type Site, startSite, upload } from "./support/service.ts";

/** Six tags of a camera, place and owner among them, in a picture that lies on its side. */
async function telling(): Promise<Buffer> {
  return sharp(await jpegPhoto(90, 60))
    .withExif({
      IFD0: { Artist: "A Painter", Model: "Camera 7" },
      IFD3: {
        GPSLatitudeRef: "N",
        GPSLatitude: "51/1 30/1 0/1",
        GPSLongitudeRef: "W",
        GPSLongitude: "0/1 7/1 0/1",
      },
    })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
}

/** The file with a camera, its owner and a place, written by ExifTool. */
async function withTags(bytes: Buffer): Promise<Buffer> {
  const tags = [
    "-Artist=A Painter",
    "-Model=Camera 7",
    "-GPSLatitude=51.5",
    "-GPSLatitudeRef=N",
    "-XMP:Creator=A Painter",
  ];
  return (await run(programs.exiftool, [...tags, "-"], { input: bytes })).stdout;
}

async function original(site: Site, id: string, suffix: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(addressOf(site, id, suffix))).arrayBuffer());
}

async function tagsOf(bytes: Buffer): Promise<Record<string, unknown>> {
  const { stdout } = await run(programs.exiftool, ["-json", "-n", "-"], { input: bytes });
  const [tags] = JSON.parse(stdout.toString()) as Record<string, unknown>[]; // One file, one object.
  return tags ?? {};
}

describe("a stored original", () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
  });
  afterAll(() => site.close());

  test("a stored photograph contains no personal metadata and keeps its orientation", async () => {
    const bytes = await telling();
    expect(await tagsOf(bytes)).toMatchObject({ Artist: "A Painter", GPSLatitude: 51.5, Orientation: 6 });
    const { id, ...record } = await upload(site, bytes, "image/jpeg");
    const stored = await original(site, id, "jpg");
    const tags = await tagsOf(stored);
    expect(tags).not.toHaveProperty("Artist");
    expect(tags).not.toHaveProperty("Model");
    expect(Object.keys(tags).filter((name) => name.startsWith("GPS"))).toEqual([]);
    expect(tags).toHaveProperty("Orientation", 6);
    expect(record).toMatchObject({ width: 60, height: 90, size: stored.length });
    const pixels = (picture: Buffer) => sharp(picture).raw().toBuffer();
    expect((await pixels(stored)).equals(await pixels(bytes))).toBe(true);
  });

  test("a stored HDR photograph keeps its gain map, and no personal metadata of picture or map", async () => {
    const { picture, map } = await hdrParts();
    const described = withSegments(map, MAP_XMP);
    const list = [{ bytes: await withTags(described) }];
    const bytes = multiPicture(await withTags(withSegments(picture, pictureXmp(described.length))), list);
    const { id } = await upload(site, bytes, "image/jpeg");
    const stored = await original(site, id, "jpg");
    const { stdout: kept } = await run(programs.exiftool, ["-b", "-MPImage2", "-"], { input: stored });
    const pixels = (image: Buffer) => sharp(image).raw().toBuffer();
    expect((await pixels(kept)).equals(await pixels(map))).toBe(true);
    expect((await pixels(stored)).equals(await pixels(picture))).toBe(true);
    expect(await tagsOf(kept)).toMatchObject({ Version: 1, GainMapMax: 2.25 });
    expect(await tagsOf(stored)).toMatchObject({ DirectoryItemLength: kept.length });
    for (const file of [kept, stored]) {
      expect(Object.keys(await tagsOf(file)).filter((tag) => /GPS|Artist|Model|Creator/.test(tag))).toEqual(
        [],
      );
    }
    const small = await original(site, id, "jpg?resize=100x");
    const { stdout: smallMap } = await run(programs.exiftool, ["-b", "-MPImage2", "-"], { input: small });
    expect(await tagsOf(smallMap)).toMatchObject({ GainMapMax: 2.25, ImageWidth: 50, ImageHeight: 25 });
    for (const format of ["svg", "pdf"]) {
      expect((await original(site, id, format)).includes("MPF\0")).toBe(false);
    }
  });

  test("a file without metadata is stored unchanged", async () => {
    const bytes = await jpegPhoto(90, 60);
    const { id } = await upload(site, bytes, "image/jpeg");
    expect((await original(site, id, "jpg")).equals(bytes)).toBe(true);
  });

  test("a stored SVG contains nothing that runs or loads", async () => {
    const hostile = svgDrawing
      .toString()
      .replace("</svg>", '<script>alert(1)</script><image href="//e.test/a.png"/></svg>');
    const { id, size } = await upload(site, Buffer.from(hostile), "image/svg+xml");
    const stored = await original(site, id, "svg");
    expect(stored.toString()).toMatch(/<circle/);
    expect(stored.toString()).not.toMatch(/script|alert|e\.test/);
    expect(size).toBe(stored.length);
  });
});

test("keepMetadata stores pictures unchanged, but still cleans SVG", async () => {
  const site = await startSite({ keepMetadata: true });
  try {
    const bytes = await telling();
    const { id } = await upload(site, bytes, "image/jpeg");
    expect((await original(site, id, "jpg")).equals(bytes)).toBe(true);
    const hostile = svgDrawing.toString().replace("</svg>", "<script>alert(1)</script></svg>");
    const drawing = await upload(site, Buffer.from(hostile), "image/svg+xml");
    expect((await original(site, drawing.id, "svg")).toString()).not.toContain("alert");
  } finally {
    await site.close();
  }
});
