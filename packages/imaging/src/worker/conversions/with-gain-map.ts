import { isServiceError } from "@outrigger/core/values";
import sharp from "sharp";
import { awaitLibvips } from "../libvips.ts";
import { writeExifOrientation } from "../privacy/exif-orientation.ts";
import { readHdr, readPictureRanges, writeMpf, writePictureXmp } from "../privacy/gain-map.ts";
import { insertSegments, type JpegSegment, Marker, writeSegment } from "../privacy/jpeg-segments.ts";
import { stripJpeg } from "../privacy/strip-jpeg.ts";
import { type Conversion, uprightPixels } from "./conversion.ts";

/** Of encoded gain maps, which have few details. */
const QUALITY = 85;

/**
 * A JPEG rendition of a JPEG with the original's HDR gain map, cut, resized and turned like the picture. Only `jpeg` if the original
 * has none or a damaged one, and with edits or bars, to which no map belongs. sharp's `keepGainMap` would decode the picture at full size,
 * ignore its chroma subsampling, and mirror some maps the wrong way.
 */
export async function withGainMap(conversion: Conversion, jpeg: Buffer): Promise<Buffer> {
  const { bytes, type, size, placed, isEdited } = conversion;
  const hasBars = placed !== null && (placed.width < size.width || placed.height < size.height);
  if (type !== "image/jpeg" || isEdited || hasBars || Object.keys(readHdr(bytes)).length === 0) return jpeg;
  // Where the host keeps metadata, the map of the original has not been checked yet.
  const hdr = Buffer.concat(stripJpeg(bytes, { gainMap: true }) ?? [bytes]);
  const { mpf, xmp, iso } = readHdr(hdr);
  const [range] = mpf === undefined ? [] : readPictureRanges(hdr, mpf, 0);
  if (range === undefined) return jpeg;
  const original = hdr.subarray(range.start, range.end);
  const encoded = await encodedMap(conversion, hdr, original);
  if (encoded === null) return jpeg;
  const described = readHdr(original);
  const map = insertSegments(encoded, [
    ...partOf(original, described.xmp),
    ...partOf(original, described.iso),
  ]);
  const head = [...partOf(hdr, iso), ...(xmp === undefined ? [] : [writePictureXmp(map.length)])];
  const picture = insertSegments(jpeg, [...head, writeMpf(0, 0, 0)]);
  const at = picture.indexOf("MPF\0") - 4;
  writeMpf(picture.length, at, map.length).copy(picture, at);
  return Buffer.concat([picture, map]);
}

function partOf(jpeg: Buffer, segment: JpegSegment | undefined): Buffer[] {
  return segment === undefined ? [] : [jpeg.subarray(segment.start, segment.end)];
}

/** The part of a gain map that belongs to a rendition. `null` if the map is damaged. */
async function encodedMap(conversion: Conversion, hdr: Buffer, map: Buffer): Promise<Buffer | null> {
  const { type, picture, size, limits } = conversion;
  const header = { failOn: "error", limitInputPixels: limits.maxPixels } as const;
  try {
    const { orientation = 1 } = await awaitLibvips(type, limits, sharp(hdr, header).metadata());
    const exif = Buffer.concat([Buffer.from("Exif\0\0"), writeExifOrientation(orientation)]);
    const turned = insertSegments(map, [writeSegment(Marker.APP1, exif)]);
    // The values of a map are no colours, whatever its profile says.
    const decode = async () => sharp(turned, { ...header, autoOrient: true, ignoreIcc: true });
    const { autoOrient: natural, channels } = await awaitLibvips(type, limits, (await decode()).metadata());
    const across = natural.width / picture.natural.width;
    const down = natural.height / picture.natural.height;
    const part = {
      width: Math.max(1, Math.round(size.width * across)),
      height: Math.max(1, Math.round(size.height * down)),
    };
    const whole = { natural, frames: 1, pages: 1, scalable: false, decode };
    const pixels = await uprightPixels(
      { ...conversion, picture: whole, spec: { format: "jpg" } },
      { size: part },
    );
    const values = pixels.toColourspace(channels === 1 ? "b-w" : "srgb");
    const encoded = values.jpeg({ quality: QUALITY, chromaSubsampling: "4:4:4" });
    return await awaitLibvips(type, limits, encoded.toBuffer());
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return null;
    throw error;
  }
}
