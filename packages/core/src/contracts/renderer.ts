/** Media types of originals, as the contract document lists them. */
export type OriginalType =
  | "image/png"
  | "image/jpeg"
  | "image/gif"
  | "image/svg+xml"
  | "image/x-photoshop"
  | "application/pdf";

/** Formats that an image is served as, named by their suffix. */
export type ImageFormat = "png" | "jpg" | "gif" | "svg" | "psd" | "pdf" | "webp" | "avif";

/** JPEG quality levels. */
export type Quality = "low" | "medium" | "high" | "max";

/** Where the renderer finds the bytes: a file on this machine, which it only reads, or the bytes themselves. */
export type RenderSource = { path: string } | { bytes: Uint8Array };

/** What a decode found. `null` where this renderer cannot tell. */
export interface ImageInfo {
  /** Pixels, upright (after EXIF orientation). PDF: at 2 px per point of page 1. */
  width: number | null;
  height: number | null;
  /** Pages of a PDF, frames of an animation, else 1. */
  pages: number | null;
}

/** How a file is taken in. */
export interface AdmitOptions {
  /**
   * Where the renderer may write the file to store instead. Nothing is there yet; whatever is there afterwards, also
   * after a rejection, is the caller's to remove.
   */
  cleanedPath: string;
  /** Leaves EXIF, XMP, IPTC and document properties in the file. @default false */
  keepMetadata?: boolean;
}

/** A file that may be stored, as it is or cleaned. */
export interface Admission extends ImageInfo {
  /** The file at `cleanedPath`, which is to be stored instead; `null` where the file can stay as it is. */
  cleaned: {
    /** In bytes. */
    size: number;
    /** SHA-256 of the bytes, hex. */
    sha256: string;
  } | null;
}

/** One rendition, fully determined: equal specs of one original give the same picture. */
export interface RenditionSpec {
  format: ImageFormat;
  /** For `jpg` only. */
  quality?: Quality;
  /** The box to fit into, in pixels, 1 to 8192 a side; an absent side is free. Rasters are never enlarged. */
  maxWidth?: number;
  maxHeight?: number;
  /** Page of a PDF, from 1; as `pdf` it comes alone. @default the first, and for `pdf` the whole document */
  page?: number;
}

export interface Rendition {
  bytes: Buffer;
}

/**
 * Decodes, resizes and encodes. Bounds pixels, frames, pages, memory and time itself; no input may harm the process
 * that calls it.
 *
 * Rejects with `unsupported_media` (the bytes cannot be read as `type`, or are over a limit; the message says which),
 * `not_implemented` (this conversion is not offered), `overloaded` (its queue is full; `retryAfterMs` is set).
 * `signal` gives up a place in the queue; work that has begun runs to its end.
 */
export interface Renderer {
  /** Part of every rendition's cache key and ETag: changes when the same spec may give other bytes. `[a-z0-9.-]{1,24}` */
  readonly version: string;
  /** Whether `type` can be served as `format` at all. Serving an original as itself needs no renderer. */
  canRender(type: OriginalType, format: ImageFormat): boolean;
  /**
   * Proves by a bounded decode that the bytes are a readable `type`, measures them, and rids them of what must not be
   * stored: whatever an SVG could run or load, and what tells of the person behind a picture (place, camera, author).
   * Pixels are not encoded anew; orientation and colour profile stay.
   */
  admit(
    source: RenderSource,
    type: OriginalType,
    options: AdmitOptions,
    signal?: AbortSignal,
  ): Promise<Admission>;
  render(
    source: RenderSource,
    type: OriginalType,
    spec: RenditionSpec,
    signal?: AbortSignal,
  ): Promise<Rendition>;
  /** Ends the workers. Waiting calls reject with `overloaded`. Calling it twice is allowed. */
  close(): Promise<void>;
}
