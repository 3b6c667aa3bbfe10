import type { PictureLimits } from "../../shared/wire.ts";
import { type JpegSegment, Marker } from "../privacy/jpeg-segments.ts";
import { unreadable } from "../unreadable.ts";
import { countJpegRows } from "./jpeg-rows.ts";
import { isFine, readJpegScans } from "./jpeg-scans.ts";
import { requireRows } from "./missing-rows.ts";

const TYPE = "image/jpeg";
const EOI = Buffer.of(0xff, Marker.EOI);

/**
 * A readable copy of a JPEG whose end is missing, or `bytes` itself. libjpeg fills in missing rows. Rejects with
 * `unsupported_media` when too many rows are missing, or a progressive JPEG ends before its finer scans. `null`: it has
 * no scan.
 */
export async function repairJpeg(bytes: Buffer, limits: PictureLimits): Promise<Buffer | null> {
  const found = readJpegScans(bytes);
  const { last } = found;
  if (found.scans.length === 0 || last === null) return null;
  const isTruncated = last.marker !== Marker.EOI;
  if (isTruncated && !isFine(found)) throw unreadable(TYPE, "it is truncated: its finer scans are missing");
  const complete = isTruncated
    ? Buffer.concat([bytes.subarray(0, isCut(bytes, last) ? last.start : last.end), EOI])
    : bytes;
  const { came, of } = await countJpegRows(complete, found.scans, limits);
  requireRows(TYPE, { came, of, isTruncated });
  return complete;
}

/** Whether the last segment of a file lacks bytes before its scan data. */
function isCut(bytes: Buffer, { payload }: JpegSegment): boolean {
  const start = payload.byteOffset - bytes.byteOffset;
  return start > bytes.length || start - 2 + bytes.readUInt16BE(start - 2) > bytes.length;
}
