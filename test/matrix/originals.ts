import { initializeCanvas, type Layer, writePsdBuffer } from "ag-psd";
import sharp, { type Sharp } from "sharp";
import { animatedGif } from "../support/pictures.ts";
import { drawingPdf } from "./drawing-pdf.ts";

/** A real file of one of the six types, as a client would upload it. */
export interface Original {
  type: string;
  bytes: Buffer;
  /** Upright, in pixels, as in the record. */
  width: number;
  height: number;
  pages: number;
}

export type OriginalName = "png" | "jpg" | "gif" | "svg" | "psd" | "pdf";

/**
 * Each shows shapes of several colours whose position reveals the rotation; PNG, SVG and PSD are partly transparent.
 */
export async function createOriginals(): Promise<Record<OriginalName, Original>> {
  return {
    png: {
      type: "image/png",
      bytes: await sharp(drawing(120, 80)).png().toBuffer(),
      ...size(120, 80),
    },
    jpg: { type: "image/jpeg", bytes: await turnedJpeg(120, 80), ...size(80, 120) },
    gif: {
      type: "image/gif",
      bytes: await animatedGif(3, 90, 60),
      ...size(90, 60),
      pages: 3,
    },
    svg: { type: "image/svg+xml", bytes: drawing(100, 60), ...size(100, 60) },
    psd: { type: "image/x-photoshop", bytes: await layeredPsd(64, 48), ...size(64, 48) },
    pdf: {
      type: "application/pdf",
      bytes: drawingPdf(150, 100, 2),
      ...size(300, 200),
      pages: 2,
    },
  };
}

function size(width: number, height: number) {
  return { width, height, pages: 1 };
}

/** An SVG without symmetry, its lower right corner left empty. */
function drawing(width: number, height: number): Buffer {
  const [right, bottom] = [width / 2, height / 2];
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
      <defs><linearGradient id="g"><stop stop-color="#123a9c"/><stop offset="1" stop-color="#8fd14f"/></linearGradient></defs>
      <rect width="${width}" height="${bottom}" fill="url(#g)"/>
      <rect y="${bottom}" width="${right}" height="${bottom}" fill="#d93025"/>
      <circle cx="${right}" cy="${bottom}" r="${height / 5}" fill="#fbbc04"/></svg>`,
  );
}

/** As a camera stores a picture taken upright: its pixels lie on their side (EXIF orientation 6). */
function turnedJpeg(width: number, height: number): Promise<Buffer> {
  const flat = sharp(drawing(width, height)).flatten({ background: "#ffffff" });
  return flat.withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer();
}

/** Two layers, the upper one half transparent, and the merged picture of both. */
async function layeredPsd(width: number, height: number): Promise<Buffer> {
  // Without a canvas the library works on plain pixel data.
  initializeCanvas(
    () => {
      throw new Error("The PSD library requested a canvas");
    },
    (w, h) =>
      ({ width: w, height: h, data: new Uint8ClampedArray(w * h * 4), colorSpace: "srgb" }) as ImageData,
  );
  const lower = await rgba(sharp(drawing(width, height)));
  const upper = await rgba(
    sharp({
      create: { width: 20, height: 10, channels: 4, background: { r: 250, g: 0, b: 250, alpha: 0.5 } },
    }),
  );
  const merged = await rgba(
    sharp(drawing(width, height)).composite([{ input: await png(upper), left: 4, top: 6 }]),
  );
  const children: Layer[] = [
    { name: "drawing", imageData: lower },
    { name: "veil", left: 4, top: 6, imageData: upper },
  ];
  return writePsdBuffer({ width, height, children, imageData: merged });
}

type PixelData = { width: number; height: number; data: Uint8ClampedArray };

async function rgba(image: Sharp): Promise<PixelData> {
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data: new Uint8ClampedArray(data) };
}

function png({ width, height, data }: PixelData): Promise<Buffer> {
  return sharp(data, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}
