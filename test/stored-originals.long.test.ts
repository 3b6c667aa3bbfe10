import sharp from "sharp";
import { expect, test } from "vitest";
import {
  hdrParts,
  MAP_XMP,
  multiPicture,
  pictureXmp,
  withSegments,
} from "../packages/imaging/test/hdr-jpegs.ts";
import { programs, run } from "./support/programs.ts";
import { addressOf, type Site, upload, withSite } from "./support/service.ts";

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

test("a stored HDR photograph keeps its gain map, and no personal metadata of picture or map", async () => {
  await withSite({}, async (site) => {
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
});
