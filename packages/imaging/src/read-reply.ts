import { type Admission, isColor, isPlaceholder, type PageSizes } from "@outrigger/core/images";
import { MAX_PAGE_RUNS } from "@outrigger/core/values";
import { MAX_PIECES, type Piece } from "./shared/wire.ts";

/** What an admission found, and the cleaned file, which the host writes. */
export interface AdmissionReply {
  info: Omit<Admission, "cleaned">;
  cleaned: { pieces: readonly Piece[]; bytes: Buffer } | null;
}

/** Verifies a reply to `admit`. A decoder may be under control of the file that it read. Throws for any other value. */
export function readAdmission(reply: unknown, bytes: Buffer, sourceBytes: number): AdmissionReply {
  const { width, height, pages, pageSizes, cleaned, placeholder, color, alpha, type, warnings, provenance } =
    fieldsOf(reply);
  if (placeholder !== undefined && !isPlaceholder(placeholder)) throw invalid();
  if (color !== undefined && !isColor(color)) throw invalid();
  if (alpha !== undefined && typeof alpha !== "boolean") throw invalid();
  if (type !== undefined && !isRasterType(type)) throw invalid();
  if (provenance !== undefined && provenance !== true) throw invalid();
  return {
    info: {
      ...(type === undefined ? {} : { type }),
      ...(warnings === undefined ? {} : { warnings: listOf(warnings, WARNINGS.length).map(warningOf) }),
      ...(provenance === undefined ? {} : { provenance }),
      width: measureOf(width),
      height: measureOf(height),
      pages: measureOf(pages),
      ...(placeholder === undefined ? {} : { placeholder }),
      ...(color === undefined ? {} : { color }),
      ...(alpha === undefined ? {} : { alpha }),
      ...(pageSizes === undefined ? {} : { pageSizes: listOf(pageSizes, MAX_PAGE_RUNS).map(readRun) }),
    },
    cleaned: cleaned === null ? null : { pieces: readPieces(cleaned, bytes.length, sourceBytes), bytes },
  };
}

/** What a converted upload can become. */
const RASTER_TYPES = ["image/png", "image/jpeg", "image/gif"] as const;
const WARNINGS = [
  ...(["colors_reduced", "damage_repaired", "depth_reduced", "first_frame_only", "first_page_only"] as const),
  ...(["hdr_reduced", "metadata_removed", "text_removed"] as const),
];

function isRasterType(given: unknown): given is (typeof RASTER_TYPES)[number] {
  return RASTER_TYPES.some((type) => type === given);
}

function warningOf(given: unknown): (typeof WARNINGS)[number] {
  const warning = WARNINGS.find((each) => each === given);
  if (warning === undefined) throw invalid();
  return warning;
}

function readRun(given: unknown): PageSizes[number] {
  const [firstPage, width, height] = listOf(given, 3).map((each) => wholeOf(each));
  return [wholeOf(firstPage), wholeOf(width), wholeOf(height)];
}

/** The ranges together are no longer than the bytes that they come from, so a reply cannot fill the disk. */
function readPieces(given: unknown, replyBytes: number, sourceBytes: number): Piece[] {
  const room = { source: sourceBytes, reply: replyBytes };
  return listOf(given, MAX_PIECES).map((piece) => {
    const [of, first, last] = listOf(piece, 3);
    if (of !== "source" && of !== "reply") throw invalid();
    const end = wholeOf(last, of === "source" ? sourceBytes : replyBytes);
    const start = wholeOf(first, end);
    room[of] -= end - start;
    if (room[of] < 0) throw invalid();
    return [of, start, end];
  });
}

function fieldsOf(reply: unknown): Record<string, unknown> {
  if (typeof reply !== "object" || reply === null) throw invalid();
  return { ...reply };
}

function listOf(given: unknown, maxLength: number): unknown[] {
  if (!Array.isArray(given) || given.length > maxLength) throw invalid();
  return given;
}

function measureOf(given: unknown): number | null {
  return given === null ? null : wholeOf(given);
}

function wholeOf(given: unknown, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof given !== "number" || !Number.isInteger(given) || given < 0 || given > max) throw invalid();
  return given;
}

function invalid(): Error {
  return new Error("A render process sent an invalid reply");
}
