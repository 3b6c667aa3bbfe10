import type { PictureEdits } from "./picture-edits.ts";

/** Media types of originals, as the OpenAPI description lists them. */
export type OriginalType =
  | "image/png"
  | "image/jpeg"
  | "image/gif"
  | "image/svg+xml"
  | "image/x-photoshop"
  | "application/pdf";

/** Media types of uploads that a renderer converts to an original, where a service wants that. */
export type ConvertibleType = "image/webp" | "image/avif" | "image/tiff" | "image/heic";

/**
 * What a stored picture, or its renditions, lack of the uploaded file. `colors_reduced`: a GIF has 256 colours. `damage_repaired`: pixels
 * of a damaged JPEG or PNG; it is encoded again. `depth_reduced`:
 * channels of more than 8 bits. `first_frame_only`: an animation; renditions of an animated PNG. `first_page_only`: a document.
 * `hdr_reduced`: brightness of PQ or HLG. `metadata_removed`: place, camera, author, dates and the like of a picture of pixels.
 * `text_removed`: the HTML of an SVG.
 */
export type ImageWarning =
  | "colors_reduced"
  | "damage_repaired"
  | "depth_reduced"
  | "first_frame_only"
  | "first_page_only"
  | "hdr_reduced"
  | "metadata_removed"
  | "text_removed";

/** Formats in which an image is served, named by their file extension. */
export type ImageFormat = "png" | "jpg" | "gif" | "svg" | "psd" | "pdf" | "webp" | "avif";

/** Quality levels of a JPEG. */
export type Quality = "low" | "medium" | "high" | "max";

/**
 * The source bytes: a file on this machine, read-only, from byte `start` on (absent: from the first byte), or
 * the bytes themselves.
 */
export type RenderSource = { path: string; start?: number } | { bytes: Uint8Array };

/** The result of a decode. `null`: this renderer cannot determine the value. */
export interface ImageInfo {
  /** Pixels, upright (after EXIF orientation). PDF: at 2 px per point of page 1. */
  width: number | null;
  height: number | null;
  /** Pages of a PDF, frames of an animation, else 1. */
  pages: number | null;
}

/**
 * Runs of consecutive pages with equal size, in order. Each run has its first page, from 1, and the width and
 * height of its pages in pixels, as in {@link ImageInfo}. 0 × 0: unknown.
 */
export type PageSizes = readonly (readonly [firstPage: number, width: number, height: number])[];

/** Options for admitting an uploaded file. */
export interface AdmitOptions {
  /**
   * Path at which the renderer may write a cleaned file. No file exists there before the call. The caller
   * deletes any file there afterwards, also after a rejection.
   */
  cleanedPath: string;
  /** Keeps EXIF, XMP, IPTC and document properties in the file. @default false */
  keepMetadata?: boolean;
  /** Keeps actions, scripts, attached files and multimedia in a PDF. @default false */
  keepPdfActions?: boolean;
}

/** A preview of a picture in a few bytes, taken from page 1 or the first frame while its pixels are decoded. */
export interface PicturePreview {
  /** A ThumbHash in base64, at most {@link MAX_PLACEHOLDER_LENGTH} characters. It keeps transparency. Absent: none. */
  placeholder?: string;
  /** The average colour of what is not transparent, `#rrggbb`. Absent: none. */
  color?: string;
  /** Whether the picture can have transparent pixels. Absent: unknown. */
  alpha?: boolean;
}

/** An admitted file: it may be stored unchanged, or in its cleaned form. */
export interface Admission extends ImageInfo, PicturePreview {
  /**
   * Sizes of all pages including the first, up to the last page of the document or up to an unknown end; at
   * most {@link MAX_PAGE_RUNS} runs. Absent: there is one page, or this renderer cannot determine the sizes.
   */
  pageSizes?: PageSizes;
  /** The type of the cleaned file, if the upload was converted to it. */
  type?: OriginalType;
  /** What the stored file or its renditions lack. Absent: nothing. */
  warnings?: readonly ImageWarning[];
  /** The upload had Content Credentials (C2PA). Absent: none were found. */
  provenance?: true;
  /** The file at `cleanedPath`, to be stored instead; `null` if the file can be stored unchanged. */
  cleaned: {
    /** In bytes. */
    size: number;
    /** SHA-256 of the bytes, hex. */
    sha256: string;
  } | null;
}

/** The facts about an original in its record, available without reading a byte. */
export interface OriginalFacts {
  type: OriginalType;
  /** Upright size in pixels, as in {@link ImageInfo}; `null`: unknown. */
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

/** A point of a picture as shares of its upright width and height, 0 to 1, from the top left corner. */
export type PicturePoint = readonly [x: number, y: number];

/** The parts of a picture that a renderer finds: where people look first, and where the most detail is. */
export type FoundPlace = "attention" | "entropy";

/**
 * The whole picture in a rendition that shows a part of it, or more than it. The rendition begins `left` and `top` pixels inside
 * the drawn picture, or so many pixels before it where they are negative. With `at`, the renderer finds the offset.
 */
export type DrawnPicture = Size & ({ left: number; top: number } | { at: FoundPlace });

/** The geometry of a rendition. */
export interface Layout extends Size {
  /** Absent: the whole picture fills the rendition. */
  drawn?: DrawnPicture;
}

/** A fully specified rendition: equal specs of one original give equal pictures. */
export interface RenditionSpec {
  format: ImageFormat;
  /** For `jpg`. @default "high" */
  quality?: Quality;
  /** Exactly this layout, as returned by {@link Renderer.measure}. The box, `fit` and `at` are then ignored. */
  width?: number;
  height?: number;
  drawn?: DrawnPicture;
  /**
   * The box to fit into, in pixels, 1 to 8192 per side; an absent side is unlimited. Raster images are never
   * enlarged.
   */
  maxWidth?: number;
  maxHeight?: number;
  /**
   * `cover`: fills the box and is cut; a raster smaller than the box gives the largest size with the ratio of the box. `pad`:
   * fits into the box, with bars up to its size. Both need both sides. @default the picture fits into the box, without bars
   */
  fit?: "cover" | "pad";
  /** The part that `cover` keeps: as close as possible around a point, or found. @default the centre */
  at?: PicturePoint | FoundPlace;
  /**
   * Colour of bars and below transparent parts, as six lower-case hexadecimal digits. @default transparent; white in formats
   * without transparency
   */
  background?: string;
  /**
   * Page of a PDF, from 1; with format `pdf`, only this page. @default the first page; for `pdf` the whole
   * document
   */
  page?: number;
  /** Edits of the finished picture. All sizes in this spec are those before its rotation. @default none */
  edits?: PictureEdits;
}

export interface Rendition {
  bytes: Buffer;
}

/** Maximum number of page runs in an {@link Admission}, so that records stay small. */
export const MAX_PAGE_RUNS = 32;

/** Characters of the longest {@link PicturePreview.placeholder}: a ThumbHash has at most 25 bytes. */
export const MAX_PLACEHOLDER_LENGTH = 36;

/** Options for queued work. */
export interface WorkOptions {
  /** Aborting removes the call from the queue; work that has begun runs to its end. */
  signal?: AbortSignal;
  /**
   * Called once when work that has begun ends, before the promise settles, on success and failure. Receives
   * the CPU time in milliseconds, or the whole deadline if the system does not report the CPU time of a
   * killed worker.
   */
  onCost?: (cpuMs: number) => void;
}

/** How decoding processes are confined: by bubblewrap, or not at all. */
export type SandboxLevel = "bubblewrap" | "none";

/** The level of the decoding processes. */
export interface Sandbox {
  level: SandboxLevel;
  /** Why a stronger level does not work here. Empty if none was tried. */
  failures: readonly { level: SandboxLevel; reason: string }[];
}

/**
 * Decodes, resizes and encodes. It bounds pixels, frames, pages, memory and time itself; no input may harm
 * the calling process.
 *
 * Rejects with `unsupported_media` (the bytes are not a readable `type`, or exceed a limit; the message says
 * which), `too_costly` (over the limit of CPU time or memory), `not_implemented` (this conversion is not
 * supported), or `overloaded` (the renderer is closed, or the machine is too busy to finish in time;
 * `retryAfterMs` is set). `overloaded` or `not_implemented` with a `cause` says that the renderer itself does not work
 * here; a service reports it to its `onError` once, and retries uploads that it has accepted.
 */
export interface Renderer {
  /** Identity of the rendering code. Equal builds give equal bytes for equal specs. `[a-z0-9.]{1,24}` */
  readonly build: string;
  /** Number of pictures processed at once. Absent: callers need not queue. */
  readonly workers?: number;
  /** Pictures of all clients that a service lets wait for these. Absent: the value of `workers`. */
  readonly maxQueue?: number;
  /** How decoding processes are confined; `null` until the first one has started. Absent: unknown. */
  readonly sandbox?: Sandbox | null;
  /**
   * The layout of a rendition before its edits, computed without reading the original: fitted to its box, or its natural size,
   * within the limits of this renderer. `null`: unknown until the original is read.
   */
  measure(original: OriginalFacts, spec: RenditionSpec): Layout | null;
  /** Whether `type` can be served as `format` at all. Serving an original unchanged needs no renderer. Absent: always. */
  canRender?(type: OriginalType, format: ImageFormat): boolean;
  /** Whether uploads of this type can be converted. Absent: none. */
  canConvert?(type: ConvertibleType): boolean;
  /**
   * Verifies by a bounded decode that the bytes are a readable `type`, measures them, and removes content
   * that must not be stored: anything an SVG could execute or load, and metadata about people (place, camera,
   * author). Pixels are not re-encoded; orientation and colour profile stay. A {@link ConvertibleType} is converted: to PNG if it
   * has transparency or no loss, to GIF if it moves, else to JPEG.
   */
  admit(
    source: RenderSource,
    type: OriginalType | ConvertibleType,
    options: AdmitOptions,
    work?: WorkOptions,
  ): Promise<Admission>;
  render(
    source: RenderSource,
    type: OriginalType,
    spec: RenditionSpec,
    work?: WorkOptions,
  ): Promise<Rendition>;
  /**
   * Prepares for the first picture, so that it does not wait. Does not keep this process alive. Rejects as a call would if
   * no picture can be rendered. A service calls it when it is created. Absent: nothing to prepare.
   */
  start?(): Promise<void>;
  /** Stops the workers. Waiting calls reject with `overloaded`. Calling it twice is allowed. */
  close(): Promise<void>;
}
