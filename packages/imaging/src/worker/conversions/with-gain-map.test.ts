import type { RenditionSpec } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXIF_SECRET, exifBlock } from "../../../test/exif-blocks.ts";
import {
  HDR_SECRET,
  type HdrParts,
  hdrParts,
  MAP_GREYS,
  MAP_XMP,
  mapIso,
  multiPicture,
  PICTURE_ISO,
  pictureXmp,
  segment,
  withSegments,
} from "../../../test/hdr-jpegs.ts";
import { CORNERS, cornersOf, distance } from "../../../test/pictures.ts";
import { stripJpeg } from "../privacy/strip-jpeg.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
let parts: HdrParts;
/** Files of each form, as they come from a phone. */
let forms: Record<"android" | "iso" | "sharp", Buffer>;

beforeAll(async () => {
  parts = await hdrParts();
  const map = withSegments(parts.map, MAP_XMP);
  const isoMap = withSegments(parts.map, mapIso());
  forms = {
    android: multiPicture(withSegments(parts.picture, pictureXmp(map.length)), [{ bytes: map }], {
      order: "II",
    }),
    iso: multiPicture(withSegments(parts.picture, PICTURE_ISO), [{ bytes: isoMap }]),
    sharp: parts.iso,
  };
});
afterAll(() => renderer.close());

const render = async (bytes: Buffer, spec: Partial<RenditionSpec>) =>
  (await renderer.render({ bytes }, "image/jpeg", { format: "jpg", ...spec })).bytes;
const mapIn = async (jpeg: Buffer) => (await sharp(jpeg).metadata()).gainMap?.image;
const turned = (jpeg: Buffer, orientation: number) =>
  withSegments(jpeg, segment(0xe1, Buffer.concat([Buffer.from("Exif\0\0"), exifBlock(orientation, "MM")])));

/** Expects a map whose quarters belong to the quarters of the picture. */
async function expectMapOfPicture(jpeg: Buffer): Promise<void> {
  const map = await mapIn(jpeg);
  if (map === undefined) throw new Error("It has no gain map");
  const colours = await cornersOf(jpeg);
  const greys = (await cornersOf(map)).map(([grey]) => grey);
  for (const [place, colour] of colours.entries()) {
    const corner = CORNERS.findIndex((each) => distance([each], [colour]) < 40);
    expect(Math.abs((greys[place] ?? -1) - (MAP_GREYS[corner] ?? 999))).toBeLessThan(12);
  }
}

describe.each(["android", "iso", "sharp"] as const)(
  "a JPEG rendition of an HDR JPEG in the form %s",
  (form) => {
    test.each<[string, Partial<RenditionSpec>, number, number]>([
      ["resized", { maxWidth: 100 }, 100, 50],
      ["tiny", { maxWidth: 12 }, 12, 6],
      ["cut", { maxWidth: 60, maxHeight: 60, fit: "cover" }, 60, 60],
      ["of level low", { quality: "low" }, 256, 128],
      ["of level max", { quality: "max" }, 256, 128],
      ["on a background", { background: "ff0000", maxWidth: 100 }, 100, 50],
    ])("%s keeps the gain map in its place", async (_, spec, width, height) => {
      const out = await render(forms[form], spec);
      expect(await sharp(out).metadata()).toMatchObject({ width, height, format: "jpeg" });
      await expectMapOfPicture(out);
      expect(out.includes(HDR_SECRET)).toBe(false);
    });

    test("keeps the gain map with the picture at any focal point", async () => {
      const out = await render(forms[form], { maxWidth: 40, maxHeight: 40, fit: "cover", at: [0, 1] });
      const map = (await mapIn(out)) ?? Buffer.alloc(0);
      const [above = -1, below = -1] = [(await cornersOf(map))[0]?.[0], (await cornersOf(map))[3]?.[0]];
      expect([Math.abs(above - 250) < 12, Math.abs(below - 10) < 12]).toEqual([true, true]);
    });

    test.each([2, 3, 4, 5, 6, 7, 8])(
      "is upright with its gain map for orientation %i",
      async (orientation) => {
        for (const spec of [{}, { maxWidth: 60 }, { maxWidth: 60, maxHeight: 60, fit: "cover" }] as const) {
          const out = await render(turned(forms[form], orientation), { quality: "high", ...spec });
          await expectMapOfPicture(out);
          expect(out.includes(EXIF_SECRET)).toBe(false);
          expect((await sharp(out).metadata()).exif).toBeUndefined();
        }
      },
    );

    test("keeps the parameters of the gain map, and the picture as without it", async () => {
      const out = await render(forms[form], { maxWidth: 100 });
      const alone = Buffer.concat(stripJpeg(forms[form]) ?? []);
      const [picture, map] = [await render(alone, { maxWidth: 100 }), (await mapIn(out)) ?? Buffer.alloc(0)];
      expect((await sharp(out).raw().toBuffer()).equals(await sharp(picture).raw().toBuffer())).toBe(true);
      const parameters = {
        android: 'hdrgm:GainMapMax="2.25"',
        iso: mapIso(),
        sharp: "urn:iso:std:iso:ts:21496:-1\0",
      }[form];
      expect(map.includes(parameters)).toBe(true);
      // A reader of its own computes light beyond white from picture and map.
      const light = await sharp(out).withGainMap().raw({ depth: "float" }).toBuffer();
      const [first = 0] = new Float32Array(light.buffer.slice(light.byteOffset, light.byteOffset + 4));
      expect(first).toBeGreaterThan(1.5);
    });
  },
);

test("other formats, bars and edits of an HDR JPEG have no gain map and show the picture", async () => {
  for (const spec of [
    { maxWidth: 90, maxHeight: 90, fit: "pad" },
    { edits: { digest: "turned", rotate: 90 } },
    { format: "webp" },
    { format: "png" },
    { format: "pdf" },
    { format: "svg" },
  ] as const) {
    expect((await render(forms.iso, spec)).includes("MPF\0")).toBe(false);
  }
});

test("a JPEG with a false list of pictures is rendered as without it, byte for byte", async () => {
  const expected = await render(parts.picture, { maxWidth: 100 });
  const lists = [
    multiPicture(parts.picture, [{ bytes: parts.map }]),
    multiPicture(parts.picture, [{ bytes: withSegments(parts.map, mapIso()), offset: 0xffff_0000 }]),
    multiPicture(withSegments(parts.picture, PICTURE_ISO), [
      { bytes: withSegments(parts.map, segment(0xe2, mapIso().subarray(4, -20))) },
    ]),
  ];
  for (const list of lists) expect((await render(list, { maxWidth: 100 })).equals(expected)).toBe(true);
});

test("a JPEG whose gain map cannot be decoded is rendered without it", async () => {
  const broken = Buffer.from(withSegments(parts.map, mapIso()));
  const scan = broken.indexOf(Buffer.of(0xff, 0xc4));
  broken.fill(0xee, scan + 4, scan + 30);
  const list = multiPicture(withSegments(parts.picture, PICTURE_ISO), [{ bytes: broken }]);
  const out = await render(list, { maxWidth: 100 });
  expect(distance(await cornersOf(out), CORNERS)).toBeLessThan(40);
});
