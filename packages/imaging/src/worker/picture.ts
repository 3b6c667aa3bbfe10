import type { Size } from "@outrigger/core";
import type { Sharp } from "sharp";

/** Options of {@link Picture.decode}. */
export interface DecodeOptions {
  /** All frames below each other instead of the first alone. @default false */
  animated?: boolean;
  /** The size that it will be reduced or, for what is drawn, enlarged to. @default its natural size */
  drawnAs?: Size;
}

/** An original whose header is read and within the limits, and whose pixels are not decoded yet. */
export interface Picture {
  /** One frame, upright, in pixels. SVG: in user units, 72 to the inch. PDF: at 2 px per point of the chosen page. */
  readonly natural: Size;
  /** Frames of an animation, else 1. */
  readonly frames: number;
  /** The count for the image record: pages of a PDF, frames of an animation, else 1. */
  readonly pages: number;
  /** Whether it is drawn at any size, so that enlarging it loses nothing. */
  readonly scalable: boolean;
  /**
   * A pipeline that begins with the upright pixels. What is drawn comes at `drawnAs` or a size near it, what is decoded
   * at its natural size: the caller resizes. Rejects with `unsupported_media` for damaged pixels, or lets the pipeline do so.
   */
  decode(options?: DecodeOptions): Promise<Sharp>;
}
