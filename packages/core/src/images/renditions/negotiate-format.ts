import { LRUCache } from "lru-cache";
import type { ImageFormat } from "../../contracts/renderer.ts";
import { FORMATS } from "../record/formats.ts";
import type { ImageRecord } from "../record/image-record.ts";

/** The formats of `<id>.auto`, by how well they suit a picture. The last ones suit every client. */
const PREFERENCES = {
  opaque: { order: ["avif", "webp", "jpg", "png"], fallback: "jpg" },
  transparent: { order: ["avif", "webp", "png", "jpg"], fallback: "png" },
  // The renderer writes no animated AVIF.
  animated: { order: ["webp", "gif"], fallback: "gif" },
} as const satisfies Record<string, { order: readonly ImageFormat[]; fallback: ImageFormat }>;

/** Every format that {@link negotiateFormat} may choose. */
export const NEGOTIATED_FORMATS = ["avif", "webp", "jpg", "png", "gif"] as const satisfies ImageFormat[];

/** Formats that a wildcard does not admit: clients without them send wildcards too. */
const MUST_BE_NAMED: readonly ImageFormat[] = ["avif", "webp"];

/** Media ranges in lower case, with their quality from 0 to 1. */
type Ranges = ReadonlyMap<string, number>;

const MAX_CACHED_LENGTH = 256;
/** Every version of a browser sends one value. */
const cached = new LRUCache<string, Ranges>({ max: 256 });

/**
 * The format of `<id>.auto` for a client: the one with the highest quality in its `Accept` header, else one that every
 * client shows.
 * @param accept The header. Absent: any format.
 * @param canServe Whether the image can be served as a format.
 */
export function negotiateFormat(
  record: Pick<ImageRecord, "type" | "pages" | "alpha">,
  accept: string | undefined,
  canServe: (format: ImageFormat) => boolean,
): ImageFormat {
  const { order, fallback } = PREFERENCES[kindOf(record)];
  const ranges = rangesOf(accept === undefined || accept.trim() === "" ? "*/*" : accept);
  let best: ImageFormat = fallback;
  let highest = 0;
  for (const format of order) {
    const quality = qualityOf(format, ranges);
    if (quality > highest && canServe(format)) [best, highest] = [format, quality];
  }
  return best;
}

function kindOf({ type, pages, alpha }: Pick<ImageRecord, "type" | "pages" | "alpha">) {
  if (type === "image/gif" && pages !== 1) return "animated";
  // A record may not tell. White behind a transparent picture would be worse than a larger file.
  return (alpha ?? (type !== "image/jpeg" && type !== "application/pdf")) ? "transparent" : "opaque";
}

function qualityOf(format: ImageFormat, ranges: Ranges): number {
  const named = ranges.get(FORMATS[format].type);
  if (named !== undefined || MUST_BE_NAMED.includes(format)) return named ?? 0;
  return ranges.get("image/*") ?? ranges.get("*/*") ?? 0;
}

function rangesOf(accept: string): Ranges {
  if (accept.length > MAX_CACHED_LENGTH) return parseRanges(accept);
  const known = cached.get(accept);
  if (known !== undefined) return known;
  const ranges = parseRanges(accept);
  cached.set(accept, ranges);
  return ranges;
}

/** RFC 9110 §12.5.1. Parameters other than the quality, and ranges with a malformed one, are ignored. */
function parseRanges(accept: string): Ranges {
  const ranges = new Map<string, number>();
  for (const range of accept.toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const text = weight === undefined ? "1" : weight.replace(/^q\s*=\s*/, "");
    if (/^(?:0(?:\.\d*)?|1(?:\.0*)?)$/.test(text))
      ranges.set(type, Math.max(ranges.get(type) ?? 0, Number(text)));
  }
  return ranges;
}
