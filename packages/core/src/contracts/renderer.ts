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

/**
 * Pages of equal size, in order: the first of them, from 1, and the width and height of each in pixels, as {@link ImageInfo}
 * counts them. 0 × 0: not known.
 */
export type PageSizes = readonly (readonly [firstPage: number, width: number, height: number])[];

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
  /**
   * Sizes of all pages, the first one too, up to the last page of the document or up to an end that is not known; at most
   * {@link MAX_PAGE_RUNS} runs. Absent: there is one page, or this renderer cannot tell.
   */
  pageSizes?: PageSizes;
  /** The file at `cleanedPath`, which is to be stored instead; `null` where the file can stay as it is. */
  cleaned: {
    /** In bytes. */
    size: number;
    /** SHA-256 of the bytes, hex. */
    sha256: string;
  } | null;
}

/** What the record tells of an original, without reading a byte. */
export interface OriginalFacts {
  type: OriginalType;
  /** Upright size in pixels, as {@link ImageInfo} has it; `null`: not known. */
  width: number | null;
  height: number | null;
  pages: number | null;
  /** As {@link Admission.pageSizes}. */
  pageSizes?: PageSizes;
  /** Bytes. */
  size: number;
}

/** Width and height in whole pixels. */
export interface Size {
  width: number;
  height: number;
}

/** One rendition, fully determined: equal specs of one original give the same picture. */
export interface RenditionSpec {
  format: ImageFormat;
  /** For `jpg` only. */
  quality?: Quality;
  /** Exactly this size, as {@link Renderer.measure} gave it. The box is then not looked at. */
  width?: number;
  height?: number;
  /** The box to fit into, in pixels, 1 to 8192 a side; an absent side is free. Rasters are never enlarged. */
  maxWidth?: number;
  maxHeight?: number;
  /** Page of a PDF, from 1; as `pdf` it comes alone. @default the first, and for `pdf` the whole document */
  page?: number;
}

export interface Rendition {
  bytes: Buffer;
  /**
   * A smaller picture of the same page, made beside the first rendition of an original that is costly to decode. Given as
   * the source of a later render it saves that decode; see {@link Renderer.usesIntermediate}.
   */
  intermediate?: Buffer;
}

/** Runs of pages that an {@link Admission} may name, so that records stay small. */
export const MAX_PAGE_RUNS = 32;

/** How a picture is worked on. */
export interface WorkOptions {
  /** Gives up a place in the queue; work that has begun runs to its end. */
  signal?: AbortSignal;
  /**
   * Called once when work that has begun ends, whichever way, before the promise settles: CPU milliseconds that it used,
   * or the whole deadline where the system does not tell what a killed worker used.
   */
  onCost?: (cpuMs: number) => void;
}

/** How a rendition is made. */
export interface RenderOptions extends WorkOptions {
  /** The source is an intermediate that an earlier render of the same original and page returned. @default false */
  fromIntermediate?: boolean;
}

/**
 * Decodes, resizes and encodes. Bounds pixels, frames, pages, memory and time itself; no input may harm the process
 * that calls it.
 *
 * Rejects with `unsupported_media` (the bytes cannot be read as `type`, or are over a limit; the message says which),
 * `too_costly` (over the limit of CPU time or memory), `not_implemented` (this conversion is not offered), `overloaded`
 * (its queue is full, or the machine is too busy to finish in time; `retryAfterMs` is set).
 */
export interface Renderer {
  /** Identity of the code that makes the bytes. Equal builds give equal bytes for equal specs. `[a-z0-9.]{1,24}` */
  readonly build: string;
  /** How many pictures it works on at once. Absent: its callers need not wait in line. */
  readonly workers?: number;
  /** How many calls may wait in line for it, all clients together. Absent: as `workers`. */
  readonly maxQueue?: number;
  /**
   * Raised by hand when a conversion is to look different than before. Renditions with a lower number are served until they
   * are made anew behind those replies; everything else stays as it was stored, whatever build made it.
   * @returns an integer from 1.
   */
  look(type: OriginalType, format: ImageFormat): number;
  /**
   * The size that a rendition has, told without reading the original: its box, or its natural size, within the limits of this
   * renderer. `null`: not known before the original is read.
   */
  measure(original: OriginalFacts, spec: RenditionSpec): Size | null;
  /**
   * Whether this rendition is made from an intermediate, the first one too: then `render` takes one as its source, and
   * returns one where it was given the original. The same for every call with the same arguments. Absent: never.
   */
  usesIntermediate?(original: OriginalFacts, spec: RenditionSpec): boolean;
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
    work?: WorkOptions,
  ): Promise<Admission>;
  render(
    source: RenderSource,
    type: OriginalType,
    spec: RenditionSpec,
    work?: RenderOptions,
  ): Promise<Rendition>;
  /** Ends the workers. Waiting calls reject with `overloaded`. Calling it twice is allowed. */
  close(): Promise<void>;
}
