import type { OriginalType } from "@outrigger/core/images";
import { isServiceError } from "@outrigger/core/values";
import sharp from "sharp";
import type { Kept, PictureLimits } from "../shared/wire.ts";
import { awaitLibvips } from "./libvips.ts";
import { isFrame, Marker, readJpegSegments } from "./privacy/jpeg-segments.ts";

const SIGNATURES: Partial<Record<OriginalType, string>> = {
  "image/jpeg": "\xff\xd8",
  "image/png": "\x89PNG\r\n\x1a\n",
};

/**
 * A damaged JPEG or PNG decoded as far as its pixels came, upright, and encoded again. `null`: it has another type, or cannot be
 * decoded.
 */
export async function decodeAnyway(
  bytes: Buffer,
  type: OriginalType,
  { keepMetadata = false }: Kept,
  limits: PictureLimits,
): Promise<Buffer | null> {
  // Other bytes are a file of another type, not a damaged one.
  if (!hasSignature(bytes, type)) return null;
  const options = { failOn: "none", limitInputPixels: limits.maxPixels, autoOrient: true } as const;
  const image = sharp(type === "image/jpeg" ? withoutCutHead(bytes) : bytes, options);
  if (keepMetadata) image.keepMetadata();
  const encoded =
    type === "image/png" ? image.png() : image.jpeg({ quality: 92, chromaSubsampling: "4:4:4" });
  try {
    return await awaitLibvips(type, limits, encoded.toBuffer());
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return null;
    throw error;
  }
}

/** A JPEG without a last segment whose head was cut: libjpeg gives up at it. */
function withoutCutHead(jpeg: Buffer): Buffer {
  const last = [...readJpegSegments(jpeg)].at(-1);
  if (last === undefined || last.start === 0 || last.marker === Marker.EOI) return jpeg;
  const lengthAt = last.payload.byteOffset - jpeg.byteOffset - 2;
  const isCut = lengthAt + 2 > jpeg.length || lengthAt + jpeg.readUInt16BE(lengthAt) > jpeg.length;
  return isCut ? jpeg.subarray(0, last.start) : jpeg;
}

function hasSignature(bytes: Buffer, type: OriginalType): boolean {
  const signature = SIGNATURES[type];
  return signature !== undefined && bytes.toString("latin1", 0, signature.length) === signature;
}

/** SOF2, a progressive frame (ITU-T T.81, table B.1). */
const LAST_USUAL_FRAME = 0xc2;

/**
 * Why a raster of its type cannot be read although it is whole: a form that few programs read. `null` for the usual
 * forms.
 */
export function unusualForm(bytes: Buffer, type: OriginalType): string | null {
  if (type === "image/png" && bytes.toString("latin1", 12, 16) === "CgBI") {
    return "it is in the form of PNG that Xcode makes for iPhone apps (CgBI)";
  }
  if (type !== "image/jpeg" || !hasSignature(bytes, type)) return null;
  for (const { marker, payload } of readJpegSegments(bytes)) {
    if (!isFrame(marker) || payload.length < 6) continue;
    const [precision = 8, components = 3] = [payload[0], payload[5]];
    if (precision !== 8) return `it has ${precision} bits per channel; 8 are supported`;
    if (![1, 3, 4].includes(components)) return `it has ${components} colour channels`;
    return marker > LAST_USUAL_FRAME ? "it is coded without loss, in a hierarchy or arithmetically" : null;
  }
  return null;
}
