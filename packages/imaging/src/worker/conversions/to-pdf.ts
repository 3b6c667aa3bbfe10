import { isServiceError } from "@outrigger/core";
import sharp from "sharp";
import { fitInside } from "../../shared/fit.ts";
import { isSized } from "../../shared/measure.ts";
import { openPdf } from "../pdf/open-pdf.ts";
import { transformPdf } from "../pdf/transform-pdf.ts";
import { pdfOfJpeg, pdfOfPixels } from "../pdf/write-pdf.ts";
import { readPixels } from "../read-pixels.ts";
import { reading } from "../reading.ts";
import { type Conversion, keepsSize, uprightPixels } from "./conversion.ts";
import { encode } from "./encode.ts";
import { looksAlike } from "./looks-alike.ts";
import { isPlainRaster } from "./plain-raster.ts";
import { drawVectorPdf } from "./vector-pdf.ts";

/** Pixels per point that a drawing becomes where it cannot stay one: sharp on paper and on dense screens. */
const DRAWN_DENSITY = 2;

/** At which a vector page is compared with the drawing: small details still show. */
const PROOF = { maxWidth: 512, maxHeight: 512, maxSide: 512, maxPixels: 512 * 512 };

/** A PDF at another size, or one page that holds the picture, a point for a pixel. */
export async function toPdf(conversion: Conversion): Promise<Buffer> {
  switch (conversion.type) {
    case "application/pdf":
      return transformed(conversion);
    case "image/jpeg":
      return jpegPage(conversion);
    case "image/svg+xml":
      return (await vectorPage(conversion)) ?? pixelPage(conversion);
    default:
      return pixelPage(conversion);
  }
}

/** All pages by the same factor, the one that fits the first (or the chosen) into the box. */
function transformed({ bytes, picture, size, spec }: Conversion): Promise<Buffer> {
  return transformPdf(bytes, {
    ...(spec.page === undefined ? {} : { page: spec.page }),
    ...(isSized(spec) ? { scale: size.width / picture.natural.width } : {}),
  });
}

/** A JPEG goes in as it is, without losing quality again. */
async function jpegPage(conversion: Conversion): Promise<Buffer> {
  const { bytes, type, size, limits } = conversion;
  const isWhole = keepsSize(conversion) && (await isPlainRaster(bytes));
  const jpeg = isWhole ? bytes : await reading(type, limits, (await encodedJpeg(conversion)).toBuffer());
  const { width, height, channels } = await reading(type, limits, sharp(jpeg).metadata());
  return pdfOfJpeg(jpeg, { width, height, components: channels === 1 ? 1 : 3 }, size);
}

async function encodedJpeg(conversion: Conversion) {
  const { width, height } = conversion.size;
  const image = await uprightPixels(conversion);
  return encode(image, "jpg", { quality: "high", fromJpeg: true, animated: false, pixels: width * height });
}

/** A drawing that stays one, if it looks the same; else `null`. */
async function vectorPage({ bytes, picture, size, limits }: Conversion): Promise<Buffer | null> {
  const pdf = await drawVectorPdf(bytes, size);
  if (pdf === null) return null;
  const proofSize = fitInside(size, { ...PROOF, enlarge: true });
  const drawnAs = { width: proofSize.width * 2, height: proofSize.height * 2 };
  try {
    const drawn = await openPdf(pdf, { maxPixels: limits.maxOutputPixels });
    const images = [await picture.decode({ drawnAs }), await drawn.decode({ drawnAs })] as const;
    return (await looksAlike(...images, proofSize)) ? pdf : null;
  } catch (error) {
    // A page that PDFium cannot read is no good to anybody else either.
    if (isServiceError(error, "unsupported_media")) return null;
    throw error;
  }
}

async function pixelPage(conversion: Conversion): Promise<Buffer> {
  const { type, picture, size, limits } = conversion;
  const drawnSize = picture.scalable
    ? fitInside(size, {
        maxWidth: size.width * DRAWN_DENSITY,
        maxHeight: size.height * DRAWN_DENSITY,
        enlarge: true,
        maxSide: limits.maxSide,
        maxPixels: limits.maxOutputPixels,
      })
    : size;
  const image = await uprightPixels(conversion, { size: drawnSize });
  const { pixels, ...raster } = await readPixels(image, type, limits);
  return pdfOfPixels(pixels, raster, size);
}
