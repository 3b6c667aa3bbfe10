import type { ConvertibleType, OriginalType, Size } from "@outrigger/core/images";
import { ServiceError } from "@outrigger/core/values";
import type { Sharp } from "sharp";
import type { Placement } from "../shared/fit.ts";

/** Options of {@link Picture.decode}. */
export interface DecodeOptions {
  /** Decode all frames, one below the other, not only the first. @default false */
  animated?: boolean;
  /** Only these frames of an animation, the first from 0. @default all */
  frames?: { first: number; count: number };
  /** Whether a JPEG that libjpeg decodes with warnings, or that lacks its end, rejects. @default false */
  strict?: boolean;
  /** The size that the caller will resize to. @default the natural size */
  drawnAs?: Size;
  /** The part of `drawnAs` to draw, where the picture is `scalable`. @default all of it */
  window?: Placement;
}

/** An original whose header has been read and is within the limits. Its pixels are not decoded yet. */
export interface Picture {
  /** Size of one frame, upright, in pixels. SVG: in user units, 72 per inch. PDF: the chosen page at 2 px per point. */
  readonly natural: Size;
  /** Frames of an animation, else 1. */
  readonly frames: number;
  /** The count for the image record: pages of a PDF, frames of an animation, else 1. */
  readonly pages: number;
  /** Of an animation: milliseconds that each frame is shown, and how often it repeats (0: for ever). */
  readonly timing?: { readonly delay: number[]; readonly loop: number };
  /** Whether the picture can be drawn at any size without loss. */
  readonly scalable: boolean;
  /** Whether each pixel takes longer to convert than to decode: a PNG with transparency or a profile. @default false */
  readonly isCostly?: boolean;
  /**
   * A pipeline that begins with the upright pixels. SVG and PDF are drawn at `drawnAs` or a size near it; rasters are
   * decoded at their natural size. The caller resizes. A window is drawn at exactly its size. Rejects with `unsupported_media` for damaged pixels, or lets the
   * pipeline do so.
   */
  decode(options?: DecodeOptions): Promise<Sharp>;
}

/** The `unsupported_media` error for bytes that cannot be read as `type`. `reason` is a clause without a full stop. */
export function unreadable(
  type: OriginalType | ConvertibleType,
  reason: string,
  cause?: unknown,
): ServiceError {
  return new ServiceError("unsupported_media", `This cannot be read as ${type}: ${reason}.`, { cause });
}

/** The `unsupported_media` error for damaged or truncated bytes. `detail` is a clause without a full stop, and without the words of a decoder. */
export function damaged(detail = "", cause?: unknown): ServiceError {
  const message = `The file is damaged or incomplete${detail && `: ${detail}`}.`;
  return new ServiceError("unsupported_media", message, { cause });
}

/** The `unsupported_media` error for more pixels than `maxPixels`. */
export function tooManyPixels(type: OriginalType | ConvertibleType, maxPixels: number): ServiceError {
  return unreadable(type, `it has more than ${maxPixels / 1_000_000} megapixels`);
}

/** Throws `unsupported_media` for more frames than the limit. */
export function requireFrames(
  type: OriginalType | ConvertibleType,
  frames: number,
  { maxFrames }: { maxFrames: number },
): void {
  if (frames > maxFrames)
    throw unreadable(type, `it has ${frames} frames; at most ${maxFrames} are accepted`);
}
