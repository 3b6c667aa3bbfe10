import type { ImageInfo, OriginalType, RenderSource } from "@outrigger/core";
import type { Sharp } from "sharp";
import { readAll, withReader } from "./byte-source.ts";
import { type DecodedType, isDecodedType } from "./conversions.ts";
import { fitInside } from "./fit.ts";
import { openPicture, type Picture, reading } from "./open-picture.ts";
import { readPsdHeader } from "./psd-header.ts";
import { tooManyPixels, unreadable } from "./unreadable.ts";
import type { PictureLimits } from "./wire.ts";

/** Readers look for it this far, because some writers put something before it (ISO 32000-1, annex H.3.4.1). */
const PDF_HEADER_WITHIN = 1024;

const THUMBNAIL = { maxWidth: 16, maxHeight: 16, enlarge: false, maxSide: 16, maxPixels: 256 };

/** What `Renderer.inspect` does, in the worker. */
export async function inspect(
  source: RenderSource,
  type: OriginalType,
  limits: PictureLimits,
): Promise<ImageInfo> {
  if (isDecodedType(type)) {
    const picture = await openPicture(await readAll(source), type, limits);
    await reading(type, limits, proof(picture, type).raw().toBuffer());
    return { ...picture.natural, pages: picture.frames };
  }
  return await withReader(source, async (reader) => {
    if (type === "image/x-photoshop") {
      const size = await readPsdHeader(reader);
      if (size.width * size.height > limits.maxPixels) throw tooManyPixels(type, limits.maxPixels);
      return { ...size, pages: 1 };
    }
    const start = await reader.read(0, PDF_HEADER_WITHIN);
    if (!start.includes("%PDF-")) throw unreadable(type, "it has no PDF header");
    return { width: null, height: null, pages: null };
  });
}

/** The cheapest pipeline that has to read every byte of pixels: a fault anywhere is found. */
function proof(picture: Picture, type: DecodedType): Sharp {
  if (type === "image/png") {
    // The last row needs all rows before it; shrinking them instead costs a quarter more.
    const { width, height } = picture.natural;
    return picture.decode().extract({ left: 0, top: height - 1, width, height: 1 });
  }
  // A JPEG decodes to an eighth by itself when that is all that is wanted, in a tenth of the time.
  const size = fitInside(picture.natural, THUMBNAIL);
  return picture.decode({ animated: true, drawnAs: size }).resize({ ...size, fit: "fill" });
}
