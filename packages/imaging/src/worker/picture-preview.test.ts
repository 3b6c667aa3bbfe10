import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Admission, OriginalType } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp, { type Sharp } from "sharp";
import { thumbHashToRGBA } from "thumbhash";
import { afterAll, expect, test } from "vitest";
import { QUARTERS, samplePdf } from "../../../../test/support/pdf-samples.ts";
import { CORNERS, cornered, distance, type Rgb } from "../../test/pictures.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
afterAll(() => renderer.close());

/** The most by which a ThumbHash of the quarters misses a colour: it has few waves, so edges ring. */
const BLUR = 70;
const AVERAGE: Rgb = [123, 113, 73];

function admitted(bytes: Buffer, type: OriginalType): Promise<Admission> {
  const cleanedPath = join(tmpdir(), `look-${process.pid}-${Math.random()}`);
  return renderer.admit({ bytes }, type, { cleanedPath, keepMetadata: true });
}

/** The colours in the middle of each quarter of a decoded placeholder, with alpha, clockwise from the upper left. */
function decoded({ placeholder = "" }: Admission): number[][] {
  const { w, h, rgba } = thumbHashToRGBA(Buffer.from(placeholder, "base64"));
  const at = (x: number, y: number) => {
    const offset = (Math.floor(y * h) * w + Math.floor(x * w)) * 4;
    return [...rgba.subarray(offset, offset + 4)];
  };
  return [at(0.25, 0.25), at(0.75, 0.25), at(0.75, 0.75), at(0.25, 0.75)];
}

const coloursOf = (admission: Admission) => decoded(admission).map(([r = 0, g = 0, b = 0]): Rgb => [r, g, b]);
const colorOf = ({ color = "" }: Admission): Rgb[] => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return [[r, g, b]];
};

/** The quarters, as large as a photograph, and in `alpha` transparent on their left half. */
async function quarters(width: number, height: number, alpha = false): Promise<Sharp> {
  const image = sharp(cornered(width, height), { raw: { width, height, channels: 3 } });
  if (!alpha) return image;
  const mask = Buffer.alloc(width * height);
  for (let y = 0; y < height; y++) mask.fill(255, y * width + (width >> 1), (y + 1) * width);
  const raw = { width, height, channels: 1 } as const;
  const joined = await image.joinChannel(mask, { raw }).png().toBuffer();
  return sharp(joined);
}

test.each<[string, OriginalType, () => Promise<Buffer>]>([
  ["a PNG", "image/png", async () => (await quarters(300, 200)).png().toBuffer()],
  ["a large PNG", "image/png", async () => (await quarters(1501, 999)).png().toBuffer()],
  [
    "a large PNG with an opaque alpha channel",
    "image/png",
    async () => (await quarters(1501, 999)).ensureAlpha().png().toBuffer(),
  ],
  [
    "a large PNG with a profile",
    "image/png",
    async () => (await quarters(1500, 1000)).withIccProfile("p3").png().toBuffer(),
  ],
  [
    "a large interlaced PNG with alpha",
    "image/png",
    async () => (await quarters(1500, 1000)).ensureAlpha().png({ progressive: true }).toBuffer(),
  ],
  ["a JPEG", "image/jpeg", async () => (await quarters(1500, 1000)).jpeg().toBuffer()],
  ["a GIF", "image/gif", async () => (await quarters(300, 200)).gif().toBuffer()],
  ["a PDF", "application/pdf", async () => samplePdf([{ content: QUARTERS }])],
])(
  "the placeholder of %s decodes to a picture that resembles it, and its colour is the average",
  async (name, type, make) => {
    const admission = await admitted(await make(), type);
    expect(admission.placeholder).toMatch(/^[A-Za-z0-9+/=]{20,36}$/);
    if (type === "application/pdf") return;
    expect(distance(coloursOf(admission), CORNERS)).toBeLessThan(BLUR);
    expect(distance(colorOf(admission), [AVERAGE])).toBeLessThan(6);
    expect(admission.alpha).toBe(/large .*alpha/.test(name));
  },
);

test("a PSD has the look of its picture", async () => {
  const png = await (await quarters(300, 200)).png().toBuffer();
  const { bytes } = await renderer.render({ bytes: png }, "image/png", { format: "psd" });
  const admission = await admitted(bytes, "image/x-photoshop");
  expect(distance(coloursOf(admission), CORNERS)).toBeLessThan(BLUR);
});

test.each([
  ["300 × 200", 300, 200],
  ["1501 × 999, which is sampled", 1501, 999],
])(
  "the look of a PNG of %s keeps transparency, which does not count for the colour",
  async (_, width, height) => {
    const admission = await admitted(
      await (await quarters(width, height, true)).png().toBuffer(),
      "image/png",
    );
    const alphas = decoded(admission).map(([, , , alpha = 0]) => alpha);
    expect(alphas[0]).toBeLessThan(70);
    expect(alphas[3]).toBeLessThan(70);
    expect(alphas[1]).toBeGreaterThan(185);
    expect(alphas[2]).toBeGreaterThan(185);
    expect(admission.alpha).toBe(true);
    // The quarters on the right.
    expect(distance(colorOf(admission), [[20, 110, 120]])).toBeLessThan(6);
  },
);

test("a wholly transparent picture has a placeholder and no colour", async () => {
  const create = { width: 30, height: 20, channels: 4, background: "#0000" } as const;
  const admission = await admitted(await sharp({ create }).png().toBuffer(), "image/png");
  expect(admission).toMatchObject({ placeholder: expect.any(String), alpha: true });
  expect(admission).not.toHaveProperty("color");
});

test("the placeholder is upright, as the picture is shown", async () => {
  const stored = (await quarters(600, 400)).withMetadata({ orientation: 6 });
  const [first, second, third, fourth] = CORNERS;
  for (const [type, bytes] of [
    ["image/jpeg", await stored.clone().jpeg().toBuffer()],
    ["image/png", await stored.clone().png().toBuffer()],
  ] as const) {
    const admission = await admitted(bytes, type);
    expect(admission).toMatchObject({ width: 400, height: 600 });
    const turned = [fourth, first, second, third].filter((each) => each !== undefined);
    expect(distance(coloursOf(admission), turned)).toBeLessThan(BLUR);
  }
});

test("a large PNG with alpha is stored encoded again for a flipped bit in its last rows, and if these are missing", async () => {
  // Noise, so that the last hundredth of the file is about the last hundredth of the rows.
  const noise = { type: "gaussian", mean: 128, sigma: 30 } as const;
  const create = { width: 1500, height: 1000, channels: 3, background: "#888", noise } as const;
  const whole = await sharp({ create }).ensureAlpha().png({ compressionLevel: 1 }).toBuffer();
  const late = Math.floor(whole.length * 0.996);
  const flipped = Buffer.from(whole);
  flipped.writeUInt8(flipped.readUInt8(late) ^ 0x10, late);
  for (const bytes of [flipped, whole.subarray(0, late)]) {
    expect((await admitted(bytes, "image/png")).warnings).toEqual(["damage_repaired"]);
  }
  expect((await admitted(whole, "image/png")).cleaned).toBeNull();
});
