import type { PresetOption } from "@outrigger/core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { meanDifference, type ReadPicture, readPicture } from "./matrix/independent-reader.ts";
import { createOriginals, type Original, type OriginalName } from "./matrix/originals.ts";
import { pngPhoto } from "./support/pictures.ts";
import { addressOf, type Created, type Site, startSite, upload } from "./support/service.ts";

const ORIGINALS: OriginalName[] = ["png", "jpg", "gif", "svg", "psd", "pdf"];
const FORMATS = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"] as const;

/** A photo in every format, other originals as pixels and in the format of their own, where they may stay what they are. */
const formatsOf = (name: OriginalName) => (name === "jpg" ? FORMATS : [...new Set(["png", name] as const)]);

/** Of 255, for edges that two programs smooth differently, in small pictures. */
const MAX_MEAN_DIFFERENCE = 9;

const LOGO = await sharp({ create: { width: 16, height: 8, channels: 4, background: "#00c0c0" } })
  .png()
  .toBuffer();
/** Divided by its sum. */
const SHARPENING = [
  "-define",
  "convolve:scale=!",
  "-morphology",
  "Convolve",
  "3x3: -1,-1,-1, -1,32,-1, -1,-1,-1",
];

/** Presets, each with what it asks of ImageMagick after scaling. The pictures are 48 pixels wide before they are turned. */
const EDITS: Record<string, { preset: PresetOption; further(size: [number, number]): string[] }> = {
  turned: { preset: { resize: "x48", rotate: 90 }, further: () => ["-rotate", "90"] },
  back: { preset: { resize: "x48", rotate: 270 }, further: () => ["-rotate", "270"] },
  over: { preset: { resize: "48x", rotate: 180 }, further: () => ["-rotate", "180"] },
  mirrored: { preset: { resize: "48x", flip: "horizontal" }, further: () => ["-flop"] },
  "upside-down": { preset: { resize: "48x", flip: "vertical" }, further: () => ["-flip"] },
  both: {
    preset: { resize: "x48", rotate: 90, flip: "horizontal" },
    further: () => ["-rotate", "90", "-flop"],
  },
  grey: { preset: { resize: "48x", grey: true }, further: () => ["-grayscale", "Rec709Luma"] },
  // At the natural size: two programs reduce pictures differently, and sharpening adds to that.
  soft: { preset: { blur: 3 }, further: () => ["-gaussian-blur", "0x3"] },
  sharp: { preset: { sharpen: true }, further: () => SHARPENING },
  marked: {
    preset: {
      resize: "48x",
      watermark: { image: LOGO, at: "north-east", width: 0.5, opacity: 0.5, margin: 0 },
    },
    further: ([width]) => [
      "-fill",
      "rgba(0,192,192,0.5)",
      "-draw",
      `rectangle ${width - 24},0 ${width - 1},11`,
    ],
  },
  all: {
    preset: {
      resize: "x48",
      ...{ rotate: 90, flip: "vertical", blur: 1, grey: true },
      watermark: { image: LOGO, at: "center", width: 0.5, margin: 0 },
    },
    further: ([width, height]) => {
      const left = Math.floor((height - Math.round(height / 2)) / 2);
      const tall = Math.round(Math.round(height / 2) / 2);
      const top = Math.floor((width - tall) / 2);
      return [
        ...[
          "-rotate",
          "90",
          "-flip",
          "-gaussian-blur",
          "0x1",
          "-grayscale",
          "Rec709Luma",
          "-colorspace",
          "sRGB",
        ],
        ...["-fill", "rgb(0,192,192)"],
        ...["-draw", `rectangle ${left},${top} ${left + Math.round(height / 2) - 1},${top + tall - 1}`],
      ];
    },
  },
};

let site: Site;
let originals: Record<OriginalName, Original>;
const images = new Map<OriginalName, Created>();

beforeAll(async () => {
  const presets = Object.fromEntries(Object.entries(EDITS).map(([name, { preset }]) => [name, preset]));
  [site, originals] = await Promise.all([startSite({ presets }), createOriginals()]);
  for (const name of ORIGINALS) {
    const { bytes, type } = originals[name];
    images.set(name, await upload(site, bytes, type));
  }
});
afterAll(() => site.close());

async function edited(name: OriginalName, format: string, preset: string): Promise<ReadPicture> {
  const response = await fetch(`${addressOf(site, images.get(name)?.id ?? "", format)}?preset=${preset}`);
  expect([name, format, preset, response.status]).toEqual([name, format, preset, 200]);
  // As PDF, a PDF keeps two pixels per point; the page of another picture has as many points as pixels.
  const pdfDensity = name === "pdf" ? 2 : 1;
  return readPicture(Buffer.from(await response.arrayBuffer()), format, { pdfDensity });
}

/** What another program makes of the original, with the edits of a preset or in the size before them. */
function expected(name: OriginalName, preset: string, isEdited = true): Promise<ReadPicture> {
  const { bytes, ...natural } = originals[name];
  const width = EDITS[preset]?.preset.resize === undefined ? natural.width : 48;
  const height = Math.round((width * natural.height) / natural.width);
  const further = isEdited ? EDITS[preset]?.further([width, height]) : undefined;
  return readPicture(bytes, name, {
    pdfDensity: 2,
    resize: { width, height },
    ...(further === undefined ? {} : { further }),
  });
}

describe.each(ORIGINALS)("%s", (name) => {
  test.each(Object.keys(EDITS))("with the edits %s, shows what another program makes", async (preset) => {
    const target = await expected(name, preset);
    for (const format of formatsOf(name)) {
      const picture = await edited(name, format, preset);
      expect([format, picture.width, picture.height]).toEqual([format, target.width, target.height]);
      expect(meanDifference(picture, target), format).toBeLessThan(MAX_MEAN_DIFFERENCE);
    }
  });
});

// Each frame of the GIF has one colour only.
test.each(ORIGINALS.filter((name) => name !== "gif"))(
  "%s with any edits is nearer to what another program makes than without them",
  async (name) => {
    for (const preset of Object.keys(EDITS)) {
      // Two programs draw the edges of a page more differently than sharpening does.
      if (name === "pdf" && preset === "sharp") continue;
      const target = await expected(name, preset);
      const without = meanDifference(await expected(name, preset, false), target);
      const withEdits = meanDifference(await edited(name, "png", preset), target);
      expect(without, preset).toBeGreaterThan(2 * withEdits);
    }
  },
);

test("a damaged watermark is reported at the start, and fails a request with 500 without marking the image", async () => {
  const damaged = { watermark: { image: (await pngPhoto(40, 30)).subarray(0, 200) } };
  const other = await startSite({ presets: { damaged, plain: { resize: "20x" } } });
  try {
    const { id } = await upload(other, await pngPhoto(40, 30), "image/png");
    const isReported = () =>
      other.errors.some((error) =>
        /^presets\.damaged\.watermark\.image cannot be drawn/.test(String((error as Error).message)),
      );
    await expect.poll(isReported, { timeout: 10_000 }).toBe(true);
    const first = await fetch(`${addressOf(other, id, "png")}?preset=damaged`);
    const second = await fetch(`${addressOf(other, id, "png")}?preset=damaged`);
    expect([first.status, second.status]).toEqual([500, 500]);
    expect((await fetch(`${addressOf(other, id, "png")}?preset=plain`)).status).toBe(200);
    expect(String((other.errors.at(-1) as Error).message)).toContain("The watermark cannot be drawn.");
  } finally {
    await other.close();
  }
});
