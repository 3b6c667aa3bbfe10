import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { meanDifference, type ReadPicture, readPicture } from "./matrix/independent-reader.ts";
import { createOriginals, type Original, type OriginalName } from "./matrix/originals.ts";
import { addressOf, type Created, type Site, startSite, upload } from "./support/service.ts";

const ORIGINALS: OriginalName[] = ["png", "jpg", "gif", "svg", "psd", "pdf"];
const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"] as const;
type Format = (typeof FORMATS)[number];

/** A photo in every format, other originals as pixels and in the format of their own, where they may stay what they are. */
const formatsOf = (name: OriginalName) => (name === "jpg" ? FORMATS : [...new Set(["png", name] as const)]);

/** Of 255, for edges that two programs smooth differently, in small pictures. */
const MAX_MEAN_DIFFERENCE = 9;

/** Boxes and the points around which they are cut. */
const COVERS: readonly [box: [number, number], at: [number, number]][] = [
  [
    [40, 40],
    [0.5, 0.5],
  ],
  [
    [20, 44],
    [0.3, 0.62],
  ],
  [
    [400, 200],
    [1, 1],
  ],
];
const PADS = [
  [[60, 60], "ff8800"],
  [[40, 80], undefined],
  [[340, 300], "transparent"],
] as const;

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

async function cropped(name: OriginalName, format: Format, query: string): Promise<ReadPicture> {
  const response = await fetch(`${addressOf(site, images.get(name)?.id ?? "", format)}?${query}`);
  expect([name, format, query, response.status]).toEqual([name, format, query, 200]);
  // The page of a PDF is as many points as the picture has pixels, but an original PDF has two pixels a point.
  return readPicture(Buffer.from(await response.arrayBuffer()), format, {
    pdfDensity: name === "pdf" ? 2 : 1,
  });
}

const isScalable = (name: OriginalName) => name === "svg" || name === "pdf";

/** What another program cuts out of the original: the box around a point, after scaling. */
function expectedCover(name: OriginalName, box: [number, number], [x, y]: [number, number]) {
  const { width, height, bytes } = originals[name];
  const scale = Math.max(box[0] / width, box[1] / height);
  const shrink = isScalable(name) ? 1 : Math.min(1, 1 / scale);
  const [w, h] = box.map((side) => Math.round(side * shrink)) as [number, number];
  const drawn = {
    width: Math.max(w, Math.round(width * scale * shrink)),
    height: Math.max(h, Math.round(height * scale * shrink)),
  };
  const offset = (share: number, whole: number, part: number) =>
    Math.max(0, Math.min(whole - part, Math.round(share * whole - part / 2)));
  const crop = `${w}x${h}+${offset(x, drawn.width, w)}+${offset(y, drawn.height, h)}`;
  return readPicture(bytes, name, { pdfDensity: 2, resize: drawn, further: ["-crop", crop, "+repage"] });
}

function expectedPad(name: OriginalName, box: readonly [number, number], background: string) {
  const { width, height, bytes } = originals[name];
  const fitting = Math.min(box[0] / width, box[1] / height);
  const scale = isScalable(name) ? fitting : Math.min(1, fitting);
  return readPicture(bytes, name, {
    pdfDensity: 2,
    resize: { width: Math.round(width * scale), height: Math.round(height * scale) },
    further: ["-gravity", "center", "-background", background, "-extent", `${box[0]}x${box[1]}`],
    background: name === "pdf" ? "white" : background,
  });
}

describe.each(ORIGINALS)("%s", (name) => {
  test.each(formatsOf(name))("fit=cover as %s shows what another program cuts out", async (format) => {
    for (const [box, at] of COVERS) {
      const query = `resize=${box[0]}x${box[1]}&fit=cover&at=${at}`;
      const picture = await cropped(name, format, query);
      const expected = await expectedCover(name, box, at);
      const { width, height } = picture;
      expect([query, width, height]).toEqual([query, expected.width, expected.height]);
      expect(meanDifference(picture, expected), query).toBeLessThan(MAX_MEAN_DIFFERENCE);
    }
  });

  test.each(formatsOf(name))("fit=pad as %s shows what another program extends", async (format) => {
    for (const [box, background] of PADS) {
      const query = `resize=${box[0]}x${box[1]}&fit=pad${background ? `&background=${background}` : ""}`;
      const picture = await cropped(name, format, query);
      const colour = background === undefined || background === "transparent" ? "white" : `#${background}`;
      const expected = await expectedPad(name, box, colour);
      expect([query, picture.width, picture.height]).toEqual([query, ...box]);
      expect(meanDifference(picture, expected), query).toBeLessThan(MAX_MEAN_DIFFERENCE);
    }
  });

  test.each(["attention", "entropy"])(
    "at=%s gives a part of the picture, equal at each request",
    async (at) => {
      const query = `resize=30x30&fit=cover&at=${at}`;
      const [one, other] = [await cropped(name, "png", query), await cropped(name, "webp", query)];
      expect([one.width, one.height]).toEqual([30, 30]);
      expect(meanDifference(one, other)).toBeLessThan(MAX_MEAN_DIFFERENCE);
    },
  );
});

test("pad keeps bars transparent in every format with transparency, and white in JPEG", async () => {
  for (const format of ["png", "webp", "avif", "gif", "jpg"]) {
    const response = await fetch(
      `${addressOf(site, images.get("jpg")?.id ?? "", format)}?resize=90x60&fit=pad`,
    );
    const corner = await sharp(Buffer.from(await response.arrayBuffer()))
      .ensureAlpha()
      .extract({ left: 0, top: 0, width: 1, height: 1 })
      .raw()
      .toBuffer();
    const alpha = corner[3] ?? Number.NaN;
    expect(format === "jpg" ? 255 - alpha : alpha, format).toBeLessThan(4);
    if (format === "jpg") expect(Math.min(...corner)).toBeGreaterThan(250);
  }
});
