/**
 * Edits of a picture. They apply in the order of these properties, after the picture is fitted, cut and extended, and to each frame of
 * an animation. The result is pixels, also if original and format are vectors: a PDF as PDF has one page, the chosen or the first.
 */
export interface PictureEdits {
  /** 16 lower-case hexadecimal digits. Equal edits, including those of their watermark's bytes, have equal digests. */
  digest: string;
  /** Degrees clockwise. 90 and 270 exchange the width and height of the rendition. Absent: none. */
  rotate?: 90 | 180 | 270;
  /** A picture drawn on top, upright and in its own colours. Absent: none. */
  watermark?: Watermark;
}

/** A picture on top of another. */
export interface Watermark {
  /** A file of `type`, in base64. */
  image: string;
  type: "image/png" | "image/jpeg" | "image/svg+xml";
  at: WatermarkPlace;
  /** Width as a share of the picture's width, above 0 and at most 1. It is smaller where it would not fit between the margins. */
  width: number;
  /** 0 to 1. Multiplies the transparency that the image has. */
  opacity: number;
  /** Distance from the edges as a share of the picture's shorter side, 0 to 0.4. */
  margin: number;
}

/** Where a watermark lies. */
export type WatermarkPlace =
  | "center"
  | "north"
  | "north-east"
  | "east"
  | "south-east"
  | "south"
  | "south-west"
  | "west"
  | "north-west";
