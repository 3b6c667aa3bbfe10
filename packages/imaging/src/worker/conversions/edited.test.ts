import type {
  ImageFormat,
  OriginalType,
  PictureEdits,
  RenditionSpec,
  Watermark,
} from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { animation, CORNERS, cornered, cornersOf, distance, type Rgb } from "../../../test/pictures.ts";
import { openPdf } from "../pdf/open-pdf.ts";
import { writePsd } from "../psd/write-psd.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
const SIZE = { width: 60, height: 40 };
const PIXELS = cornered(60, 40);
const raw = { ...SIZE, channels: 3 } as const;
const [RED, GREEN, BLUE, YELLOW] = CORNERS as [Rgb, Rgb, Rgb, Rgb];

afterAll(() => renderer.close());

const png = await sharp(PIXELS, { raw }).png().toBuffer();

async function edited(
  edits: Omit<PictureEdits, "digest">,
  spec: Partial<RenditionSpec> = {},
  [bytes, type]: readonly [Buffer, OriginalType] = [png, "image/png"],
): Promise<Buffer> {
  const all = { format: "png", ...spec, edits: { digest: "0".repeat(16), ...edits } } as const;
  return (await renderer.render({ bytes }, type, all)).bytes;
}

const SVG = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><path fill="#f00" d="M0 0h60v40H0z"/></svg>`,
);
const SOURCES: [OriginalType, Buffer][] = [
  ["image/png", png],
  ["image/jpeg", await sharp(PIXELS, { raw }).jpeg().toBuffer()],
  ["image/gif", await sharp(PIXELS, { raw }).gif().toBuffer()],
  ["image/svg+xml", SVG],
  ["image/x-photoshop", writePsd(PIXELS, { ...SIZE, channels: 3 })],
  ["application/pdf", (await renderer.render({ bytes: SVG }, "image/svg+xml", { format: "pdf" })).bytes],
];

/** A watermark of one colour, 20 × 10 pixels. */
async function mark(more: Partial<Watermark> = {}, colour = "#ff00ff"): Promise<Watermark> {
  const plain = sharp({ create: { width: 20, height: 10, channels: 3, background: colour } });
  const image = (await plain.png().toBuffer()).toString("base64");
  return { image, type: "image/png", at: "south-east", width: 0.2, opacity: 1, margin: 0.1, ...more };
}

/** The colour of a pixel, with its alpha where there is one. */
async function pixelAt(bytes: Buffer, left: number, top: number): Promise<number[]> {
  const part = sharp(bytes).extract({ left, top, width: 1, height: 1 });
  return [...(await part.toColourspace("srgb").raw().toBuffer())];
}

describe("a rotation", () => {
  test.each([
    [{ rotate: 90 }, [40, 60], [YELLOW, RED, GREEN, BLUE]],
    [{ rotate: 180 }, [60, 40], [BLUE, YELLOW, RED, GREEN]],
    [{ rotate: 270 }, [40, 60], [GREEN, BLUE, YELLOW, RED]],
  ] as const)("of %j turns the picture", async (edits, size, corners) => {
    const bytes = await edited(edits);
    const { width, height } = await sharp(bytes).metadata();
    expect([width, height]).toEqual(size);
    expect(distance(await cornersOf(bytes), [...corners])).toBe(0);
  });

  test("applies to the part that a crop shows", async () => {
    const drawn = { ...SIZE, left: 0, top: 0 };
    const bytes = await edited({ rotate: 90 }, { width: 30, height: 40, drawn });
    const { width, height } = await sharp(bytes).metadata();
    expect([width, height]).toEqual([40, 30]);
    expect([await pixelAt(bytes, 0, 0), await pixelAt(bytes, 39, 29)]).toEqual([YELLOW, RED]);
  });
});

describe("a watermark", () => {
  // A fifth of 60 pixels wide, 4 pixels from the edges.
  test.each([
    ["north-west", 4, 4],
    ["north", 24, 4],
    ["north-east", 44, 4],
    ["east", 44, 17],
    ["south-east", 44, 30],
    ["south", 24, 30],
    ["south-west", 4, 30],
    ["west", 4, 17],
    ["center", 24, 17],
  ] as const)("lies at %s", async (at, left, top) => {
    const { data, info } = await sharp(await edited({ watermark: await mark({ at }) }))
      .raw()
      .toBuffer({ resolveWithObject: true });
    const marked: [number, number][] = [];
    for (let index = 0; index < data.length; index += info.channels) {
      if (data[index] === 255 && data[index + 2] === 255) {
        marked.push([(index / info.channels) % info.width, Math.floor(index / info.channels / info.width)]);
      }
    }
    expect(info.channels).toBe(3);
    expect([marked[0], marked.at(-1), marked.length]).toEqual([[left, top], [left + 11, top + 5], 72]);
  });

  test("has its opacity, keeps its ratio, and is smaller where it would not fit", async () => {
    const pale = await edited({ watermark: await mark({ opacity: 0.5, at: "north-west" }) });
    const [red = 0, green = 0, blue = 0] = await pixelAt(pale, 6, 6);
    expect(distance([[red, green, blue]], [[238, 10, 138]])).toBeLessThan(3);
    const tall = await sharp({ create: { width: 10, height: 100, channels: 3, background: "#fff" } })
      .png()
      .toBuffer();
    const image = tall.toString("base64");
    const wide = await edited({ watermark: await mark({ image, width: 1, at: "center" }) });
    // 32 pixels high between margins of 4.
    expect([await pixelAt(wide, 30, 4), await pixelAt(wide, 30, 35)]).toEqual([
      [255, 255, 255],
      [255, 255, 255],
    ]);
    expect([await pixelAt(wide, 29, 3), await pixelAt(wide, 25, 20)]).not.toContainEqual([255, 255, 255]);
  });

  test("is drawn sharp from an SVG, whose scripts and references have no effect", async () => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="2" height="1"><script>1</script><path fill="#fff" d="M0 0h1v1H0z"/></svg>`;
    const image = Buffer.from(svg).toString("base64");
    const out = await edited({ watermark: await mark({ image, type: "image/svg+xml", width: 0.4 }) });
    expect([await pixelAt(out, 43, 30), await pixelAt(out, 44, 30)]).toEqual([[255, 255, 255], BLUE]);
  });

  test("is upright, as its EXIF orientation says", async () => {
    const turned = sharp(PIXELS, { raw }).withMetadata({ orientation: 6 });
    const image = (await turned.jpeg({ quality: 98 }).toBuffer()).toString("base64");
    const plain = await sharp({ create: { width: 120, height: 120, channels: 3, background: "#fff" } })
      .png()
      .toBuffer();
    const watermark = await mark({ image, type: "image/jpeg", width: 1, margin: 0 });
    const out = await edited({ watermark }, {}, [plain, "image/png"]);
    const part = await sharp(out).extract({ left: 40, top: 0, width: 80, height: 120 }).png().toBuffer();
    expect(distance(await cornersOf(part), [YELLOW, RED, GREEN, BLUE])).toBeLessThan(20);
  });

  test("that is damaged fails as a fault of the host, not of the picture", async () => {
    const whole = Buffer.from((await mark()).image, "base64");
    const image = whole.subarray(0, 60).toString("base64");
    await expect(edited({ watermark: await mark({ image }) })).rejects.toThrow(
      /^The renderer failed: The watermark cannot be drawn\. The file is damaged/,
    );
  });
});

describe("edits of grey pictures", () => {
  test.each([
    ["a grey PNG", false, "png"],
    ["a grey PNG with alpha", true, "png"],
    ["a grey JPEG", false, "jpeg"],
  ] as const)("of %s add a watermark in colour", async (_, hasAlpha, file) => {
    const plain = sharp({ create: { ...SIZE, channels: 3, background: "#646464" } }).toColourspace("b-w");
    const bytes = await (hasAlpha ? plain.ensureAlpha(0.5) : plain).toFormat(file).toBuffer();
    expect((await sharp(bytes).metadata()).channels).toBe(hasAlpha ? 2 : 1);
    const out = await edited({ rotate: 180, watermark: await mark() }, {}, [bytes, `image/${file}`]);
    const around = [100, 100, 100, ...(hasAlpha ? [127] : [])];
    expect([await pixelAt(out, 0, 0), (await pixelAt(out, 50, 33)).slice(0, 3)]).toEqual([
      around,
      [255, 0, 255],
    ]);
  });
});

describe("edits of an animation", () => {
  const drawn = { width: 40, height: 27, left: 5, top: 3 };
  test.each([
    ["gif", {}],
    ["webp", {}],
    ["gif", { drawn }],
    ["webp", { drawn }],
  ] as const)("change each frame as %s of %j, and keep the timing", async (format, part) => {
    const colours = [RED, GREEN, BLUE];
    // Twelve by six pixels from 2 pixels on.
    const timing = { delay: [100, 200, 300], loop: 2 };
    const bytes = await animation(60, 40, colours, timing);
    const watermark = await mark({ at: "north-west", width: 0.6 });
    const spec = { format, width: 30, height: 20, ...part };
    const out = await edited({ rotate: 90, watermark }, spec, [bytes, "image/gif"]);
    expect(await sharp(out, { animated: true }).metadata()).toMatchObject({
      ...{ width: 20, pageHeight: 30, pages: 3 },
      ...timing,
    });
    for (const [page, colour] of colours.entries()) {
      const frame = await sharp(out, { page }).removeAlpha().png().toBuffer();
      const seen = [await pixelAt(frame, 15, 20), await pixelAt(frame, 8, 5)] as Rgb[];
      expect(distance(seen, [colour, [255, 0, 255]]), `frame ${page}`).toBeLessThan(40);
    }
  });
});

describe("edits of each type", () => {
  test.each(SOURCES)("%s as its own format is pixels of the turned size", async (type, bytes) => {
    const own: Record<OriginalType, ImageFormat> = {
      ...{ "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/svg+xml": "svg" },
      ...{ "image/x-photoshop": "psd", "application/pdf": "pdf" },
    };
    const out = await edited({ rotate: 90 }, { format: own[type] }, [bytes, type]);
    if (type === "image/x-photoshop") {
      expect([out.readUInt32BE(18), out.readUInt32BE(14)]).toEqual([40, 60]);
    } else if (type === "application/pdf") {
      // A page keeps its size on paper: two pixels per point.
      const { natural, pages } = await openPdf(out, { maxPixels: 1e6 });
      expect([natural, pages]).toEqual([{ width: 80, height: 120 }, 1]);
    } else {
      const { width, height } = await sharp(out).metadata();
      expect([width, height]).toEqual([40, 60]);
      if (type === "image/svg+xml") expect(out.toString()).toContain("data:image/png;base64,");
    }
  });
});
