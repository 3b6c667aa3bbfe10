import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import PDFDocument from "pdfkit";
import sharp from "sharp";
import { complexSvg } from "./complex-svg.mjs";
import { multipartOf } from "./multipart.mjs";

/** @import { Settings } from "./settings.mjs" */

/**
 * A file of one of the six types on disk, and the multipart body that uploads it.
 * @typedef {object} Picture
 * @property {Buffer} bytes
 * @property {string} type Media type.
 * @property {string} file Alone in its directory.
 * @property {string} directory
 * @property {string} bodyFile
 * @property {string} contentType Of the body.
 */

const LARGE = { width: 4000, height: 3000 };
/** As in public comparisons of image servers. */
const MIDDLE = { width: 2000, height: 1333 };
const SMALL = { width: 800, height: 600 };
const DOCUMENT = { width: 3000, height: 2000 };
/** Bytes per pixel of {@link jpegOfBytes}. */
const BYTES_PER_PIXEL = 0.585;
/** In smoke runs: more than the service keeps in memory, but quick to make. */
const SMOKE_BYTES = 2_500_000;

/**
 * Makes the pictures of the rows, each on its first use.
 * @param {string} directory
 * @param {Settings} settings
 */
export function createCorpus(directory, { mode }) {
  /** @type {Map<string, Promise<Picture>>} */
  const made = new Map();
  const once = (
    /** @type {string} */ name,
    /** @type {() => Promise<Buffer>} */ make,
    type = "image/jpeg",
    suffix = "jpg",
  ) => {
    const known = made.get(name) ?? make().then((bytes) => save(join(directory, name), bytes, type, suffix));
    made.set(name, known);
    return known;
  };
  const isSmoke = mode === "smoke";
  return {
    /** 4000 × 3000 pixels, with the look and size of a photograph. */
    photo: () => once("photo", () => photograph(isSmoke ? SMALL : LARGE)),
    /** 2000 × 1333 pixels. */
    middle: () => once("middle", () => photograph(isSmoke ? SMALL : MIDDLE)),
    /** A JPEG of about `bytes` bytes. Large ones are smaller in smoke runs. */
    ofBytes(/** @type {number} */ wanted) {
      const bytes = isSmoke ? Math.min(wanted, SMOKE_BYTES) : wanted;
      return once(`bytes-${bytes}`, () => jpegOfBytes(bytes));
    },
    /** Two layers above a photograph, and the merged picture of all. @param {string} convert ImageMagick's program. */
    psd(convert) {
      const make = () => layeredPsd(directory, convert, isSmoke ? SMALL : DOCUMENT);
      return once("psd", make, "image/x-photoshop", "psd");
    },
    /** Ten A4 pages of text with a photograph. */
    pdf: () => once("pdf", textPdf, "application/pdf", "pdf"),
    svg: () => once("svg", async () => complexSvg(isSmoke ? 100 : undefined), "image/svg+xml", "svg"),
  };
}

/** @typedef {ReturnType<typeof createCorpus>} Corpus */

/**
 * @param {string} directory
 * @param {Buffer} bytes
 * @param {string} type
 * @param {string} suffix
 * @returns {Promise<Picture>}
 */
async function save(directory, bytes, type, suffix) {
  const files = join(directory, "files");
  await mkdir(files, { recursive: true });
  const { body, contentType } = await multipartOf({ bytes, type });
  const file = join(files, `file.${suffix}`);
  const bodyFile = join(directory, "body");
  await writeFile(file, bytes);
  await writeFile(bodyFile, body);
  return { bytes, type, file, directory: files, bodyFile, contentType };
}

/** @param {number} bytes */
function jpegOfBytes(bytes) {
  const width = Math.round(Math.sqrt(((bytes / BYTES_PER_PIXEL) * 4) / 3));
  return photograph({ width, height: Math.round((width * 3) / 4) }, 40, 95);
}

/**
 * Smooth colours and grain.
 * @param {{ width: number, height: number }} size
 * @param {number} [sigma] Standard deviation of the grain, of 255.
 * @param {number} [quality]
 */
async function photograph({ width, height }, sigma = 20, quality = 92) {
  const colours = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
      <radialGradient id="g"><stop offset="0" stop-color="#fc6"/><stop offset="1" stop-color="#135"/></radialGradient>
      <rect width="100%" height="100%" fill="url(#g)"/></svg>`,
  );
  const noise = { type: /** @type {const} */ ("gaussian"), mean: 128, sigma };
  const grain = await sharp({ create: { width, height, channels: 3, background: "#888", noise } })
    .greyscale()
    .png({ compressionLevel: 0 })
    .toBuffer();
  return sharp(colours)
    .removeAlpha()
    .composite([{ input: grain, blend: "soft-light" }])
    .jpeg({ quality, chromaSubsampling: "4:2:0" })
    .toBuffer();
}

/**
 * @param {string} directory
 * @param {string} convert
 * @param {{ width: number, height: number }} size
 */
async function layeredPsd(directory, convert, size) {
  const base = join(directory, "base.jpg");
  await writeFile(base, await photograph(size));
  const layers = [
    "(",
    "-clone",
    "0",
    "-resize",
    "45%",
    ")",
    "(",
    "-clone",
    "0",
    "-modulate",
    "100,100,80",
    ")",
  ];
  // The first picture of a PSD is the merged one.
  const merged = ["(", "-clone", "0--1", "-flatten", ")", "-insert", "0", "-compress", "RLE", "psd:-"];
  const output = /** @type {const} */ ({ encoding: "buffer", maxBuffer: 2 ** 28 });
  return (await promisify(execFile)(convert, [base, ...layers, ...merged], output)).stdout;
}

async function textPdf() {
  const photo = await photograph({ width: 1200, height: 800 });
  const document = new PDFDocument({ size: "A4", margin: 56, autoFirstPage: false });
  const bytes = buffer(document);
  const sentence = "Rhoncus neque volutpat sapien vitae commodo ligula iaculis fermentum, at porta dolor. ";
  for (let page = 1; page <= 10; page++) {
    document.addPage().font("Helvetica-Bold").fontSize(22).text(`Chapter ${page}`).moveDown(0.5);
    document.font("Times-Roman").fontSize(11);
    for (let paragraph = 0; paragraph < 3; paragraph++) {
      document.text(sentence.repeat(8), { align: "justify" }).moveDown(0.5);
    }
    document.image(photo, 56, 400, { width: 230 });
    document.font("Courier").fontSize(9).text(sentence.repeat(5), 56, 600);
  }
  document.end();
  return bytes;
}
