import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { complexSvg } from "../inputs/complex-svg.mjs";
import { layeredPsd } from "../inputs/layered-psd.mjs";
import { textPdf } from "../inputs/text-pdf.mjs";
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

/** Sides of the picture that is resized. */
const LARGE = { width: 4000, height: 3000 };
const SMALL = { width: 800, height: 600 };
/** As in public comparisons of image servers. */
const MIDDLE = { width: 2000, height: 1333 };
/** Sides of the Photoshop document. */
const LARGE_DOCUMENT = { width: 3000, height: 2000 };
const SMALL_DOCUMENT = { width: 900, height: 600 };
/** Bytes per pixel of {@link jpegOfBytes}, a first estimate. */
const BYTES_PER_PIXEL = 0.585;
/** Side lengths of the drawing. */
const SMALL_PATHS = 100;
/** More than the service keeps in memory, but quick to make. */
const SMOKE_BYTES = 2_500_000;

/**
 * Makes the pictures of the rows, each on its first use.
 * @param {string} directory
 * @param {Settings} settings
 */
export function createCorpus(directory, settings) {
  /** @type {Map<string, Promise<Picture>>} */
  const made = new Map();
  const once = (
    /** @type {string} */ name,
    /** @type {() => Promise<Buffer>} */ make,
    { type, suffix } = { type: "image/jpeg", suffix: "jpg" },
  ) => {
    const known = made.get(name) ?? make().then((bytes) => save(join(directory, name), bytes, type, suffix));
    made.set(name, known);
    return known;
  };
  const isSmoke = settings.mode === "smoke";
  return {
    /** A directory for further files. */
    directory,
    /** 4000 × 3000 pixels, with the look and size of a photograph. */
    photo: () => once("photo", () => photograph(isSmoke ? SMALL : LARGE, 20, 92)),
    /** 2000 × 1333 pixels. */
    middle: () => once("middle", () => photograph(isSmoke ? SMALL : MIDDLE, 20, 92)),
    /** The same as `photo` in PNG, with ten times as many bytes. */
    png: () =>
      once(
        "png",
        async () =>
          sharp(await photograph(isSmoke ? SMALL : LARGE, 20, 92))
            .png({ compressionLevel: 3 })
            .toBuffer(),
        { type: "image/png", suffix: "png" },
      ),
    /** A JPEG that costs next to nothing to render. */
    small: () => once("small", () => photograph(SMALL, 20, 92)),
    /** A JPEG of about `bytes` bytes. Large ones are smaller in smoke runs. */
    ofBytes(/** @type {number} */ wanted) {
      const bytes = isSmoke ? Math.min(wanted, SMOKE_BYTES) : wanted;
      return once(`bytes-${bytes}`, () => jpegOfBytes(bytes));
    },
    psd: () =>
      once("psd", () => layeredPsd(isSmoke ? SMALL_DOCUMENT : LARGE_DOCUMENT), {
        type: "image/x-photoshop",
        suffix: "psd",
      }),
    pdf: () => once("pdf", textPdf, { type: "application/pdf", suffix: "pdf" }),
    svg: () =>
      once("svg", () => complexSvg(isSmoke ? SMALL_PATHS : undefined), {
        type: "image/svg+xml",
        suffix: "svg",
      }),
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
  const { body, contentType } = multipartOf({ bytes, type });
  const file = join(files, `file.${suffix}`);
  const bodyFile = join(directory, "body");
  await writeFile(file, bytes);
  await writeFile(bodyFile, body);
  return {
    bytes,
    type,
    file,
    directory: files,
    bodyFile,
    contentType,
  };
}

/**
 * @param {number} bytes
 * @returns {Promise<Buffer>}
 */
async function jpegOfBytes(bytes) {
  let pixels = bytes / BYTES_PER_PIXEL;
  let jpeg = Buffer.alloc(0);
  for (let attempt = 0; attempt < 4; attempt++) {
    const width = Math.round(Math.sqrt((pixels * 4) / 3));
    jpeg = await photograph({ width, height: Math.round((width * 3) / 4) }, 40, 95);
    if (Math.abs(jpeg.length / bytes - 1) < 0.03) break;
    pixels *= bytes / jpeg.length;
  }
  return jpeg;
}

/**
 * Smooth colours and grain.
 * @param {{ width: number, height: number }} size
 * @param {number} grain Standard deviation of its brightness, of 255.
 * @param {number} quality
 */
async function photograph({ width, height }, grain, quality) {
  const colours = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
      <radialGradient id="g"><stop offset="0" stop-color="#fc6"/><stop offset="1" stop-color="#135"/></radialGradient>
      <rect width="100%" height="100%" fill="url(#g)"/></svg>`,
  );
  // Random bytes are uniformly distributed, with a range of sqrt(12) standard deviations.
  const scale = (grain * Math.sqrt(12)) / 255;
  const noise = await sharp(randomBytes(width * height), { raw: { width, height, channels: 1 } })
    .linear(scale, 128 - scale * 127.5)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return sharp(colours)
    .removeAlpha()
    .composite([{ input: noise.data, raw: noise.info, blend: "soft-light" }])
    .jpeg({ quality, chromaSubsampling: "4:2:0" })
    .toBuffer();
}
