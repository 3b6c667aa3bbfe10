import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { svg } from "../../../test/hostile-svgs.ts";
import { animation, CORNERS, cornered, cornersOf, distance } from "../../../test/pictures.ts";

const renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
afterAll(() => renderer.close());

async function pdfOf(content: string, side = 100): Promise<string> {
  const bytes = Buffer.from(svg(side, content));
  return (await renderer.render({ bytes }, "image/svg+xml", { format: "pdf" })).bytes.toString("latin1");
}

const isRaster = /\/Subtype\s*\/Image/;

test.each([
  [
    "shapes",
    '<path d="M5 5h60l20 50z" fill="#c00"/><circle cx="50" cy="60" r="20" stroke="#00c" fill="none"/>',
  ],
  [
    "a gradient and half transparent shapes",
    `<linearGradient id="g"><stop stop-color="#f00"/><stop offset="1" stop-color="#00f"/></linearGradient>
     <rect width="100" height="100" fill="url(#g)"/><rect x="20" y="20" width="50" height="50" opacity=".4"/>`,
  ],
  [
    "clipped and turned shapes",
    '<clipPath id="c"><rect width="50" height="90"/></clipPath><g clip-path="url(#c)" transform="rotate(10)"><rect width="90" height="60" fill="#0a0"/></g>',
  ],
  ["a background", '<style>svg{background:#39c}</style><circle cx="50" cy="60" r="20"/>'],
])("an SVG of %s becomes a vector PDF", async (_, content) => {
  const pdf = await pdfOf(content);
  expect(pdf).not.toMatch(isRaster);
  expect(pdf).toMatch(/\/MediaBox\s*\[0 0 100 100\]/);
});

test.each([
  [
    "text in a font that a PDF does not know",
    '<text y="60" font-size="40" font-family="DejaVu Serif">Wow</text>',
  ],
  [
    "a filter",
    '<filter id="f"><feGaussianBlur stdDeviation="4"/></filter><rect x="20" y="20" width="50" height="50" filter="url(#f)"/>',
  ],
  [
    "a mask",
    '<mask id="m"><circle cx="50" cy="50" r="40" fill="#fff"/></mask><rect width="100" height="100" mask="url(#m)"/>',
  ],
  [
    "a blend mode",
    '<rect width="80" height="80" fill="#f00"/><rect x="20" y="20" width="80" height="80" fill="#0f0" style="mix-blend-mode:multiply"/>',
  ],
])("an SVG with %s becomes a raster at twice its size", async (_, content) => {
  const pdf = await pdfOf(content);
  expect(pdf).toMatch(isRaster);
  expect(pdf).toContain("/Width 200/Height 200");
  expect(pdf).toMatch(/\/MediaBox\s*\[0 0 100 100\]/);
});

test("a JPEG is embedded unchanged unless it is rotated or has a colour profile", async () => {
  const raw = { width: 60, height: 40, channels: 3 } as const;
  const plain = sharp(cornered(60, 40), { raw });
  const jpegs = {
    plain: await plain.clone().jpeg().toBuffer(),
    "in sRGB, and saying so": await plain.clone().withIccProfile("srgb").jpeg().toBuffer(),
    turned: await plain.clone().withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    "wide gamut": await plain.clone().withIccProfile("p3").jpeg().toBuffer(),
    CMYK: await plain.clone().toColourspace("cmyk").jpeg().toBuffer(),
  };
  const isKept: Record<string, boolean> = {};
  for (const [name, bytes] of Object.entries(jpegs)) {
    const pdf = await renderer.render({ bytes }, "image/jpeg", { format: "pdf" });
    isKept[name] = pdf.bytes.includes(bytes);
    const size = name === "turned" ? "40 60" : "60 40";
    expect(pdf.bytes.toString("latin1"), name).toContain(`/MediaBox[0 0 ${size}]`);
  }
  expect(isKept).toEqual({
    plain: true,
    "in sRGB, and saying so": true,
    turned: false,
    "wide gamut": false,
    CMYK: false,
  });
});

const raw = { width: 60, height: 40, channels: 3 } as const;
const plain = sharp(cornered(60, 40), { raw });

/** The raster inside an SVG. */
function embedded(wrapped: Buffer): { type: string; bytes: Buffer } {
  const [, type = "", base64 = ""] = /data:([^;]+);base64,([^"]+)"/.exec(wrapped.toString("latin1")) ?? [];
  return { type, bytes: Buffer.from(base64, "base64") };
}

test("a PNG and a JPEG are embedded in an SVG unchanged", async () => {
  for (const [type, bytes] of [
    ["image/png", await plain.clone().png().toBuffer()],
    ["image/jpeg", await plain.clone().jpeg().toBuffer()],
  ] as const) {
    const { bytes: wrapped } = await renderer.render({ bytes }, type, { format: "svg" });
    expect(embedded(wrapped)).toEqual({ type, bytes });
    expect(wrapped.toString("latin1")).toMatch(/<svg [^>]*width="60" height="40"/);
  }
});

test("a rotated picture is embedded in an SVG upright", async () => {
  const bytes = await plain.clone().withMetadata({ orientation: 3 }).jpeg({ quality: 95 }).toBuffer();
  const { bytes: wrapped } = await renderer.render({ bytes }, "image/jpeg", { format: "svg" });
  const inside = embedded(wrapped);
  expect(inside.type).toBe("image/jpeg");
  const turned = [CORNERS[2], CORNERS[3], CORNERS[0], CORNERS[1]].filter((corner) => corner !== undefined);
  expect(distance(await cornersOf(inside.bytes), turned)).toBeLessThan(15);
});

test("a GIF in an SVG stays animated at any size", async () => {
  const bytes = await animation(60, 40, CORNERS, { delay: [50, 60, 70, 80], loop: 2 });
  const whole = await renderer.render({ bytes }, "image/gif", { format: "svg" });
  expect(embedded(whole.bytes)).toEqual({ type: "image/gif", bytes });
  const small = await renderer.render({ bytes }, "image/gif", { format: "svg", maxWidth: 30 });
  const metadata = await sharp(embedded(small.bytes).bytes, { animated: true }).metadata();
  expect(metadata).toMatchObject({ width: 30, pageHeight: 20, pages: 4, delay: [50, 60, 70, 80], loop: 2 });
});

test("an SVG without its own size is scaled", async () => {
  const bytes = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg"><rect width="60" height="40" fill="#c00"/></svg>',
  );
  const spec = { format: "svg", maxWidth: 120 } as const;
  const { bytes: scaled } = await renderer.render({ bytes }, "image/svg+xml", spec);
  const stats = await sharp(scaled).stats();
  expect(await sharp(scaled).metadata()).toMatchObject({ width: 120, height: 80 });
  // Red to its edges.
  expect(stats.channels[0]?.min).toBe(204);
});
