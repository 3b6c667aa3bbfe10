import type { Instant } from "./checks.ts";

/** Formats in which every image is served; `webp` and `avif` are beyond the documented ones. */
export type ImageFormat = DocumentedFormat | "webp" | "avif";

/** Formats to which a record has links. */
export type DocumentedFormat = "png" | "jpg" | "gif" | "svg" | "psd" | "pdf";

/** An image as its readers see it. Dates are ISO 8601 in UTC with milliseconds. */
export interface ImageRecord {
  /** 22 characters. */
  id: string;
  name: string;
  /** Media type of the original, e.g. `"image/png"`. */
  type: string;
  /** Bytes of the original as it is stored. */
  size: number;
  /** Pixels; of a PDF two for a point of its first page. `null` while the image is processed. */
  width: number | null;
  height: number | null;
  /** Of a PDF; of an animation its frames. `null` while the image is processed. */
  pages: number | null;
  /** `processing`: it cannot be served yet. */
  status: "ready" | "processing";
  /** First product of the uploader's User-Agent; `null` where it had none. */
  agent: { name: string; version: string | null } | null;
  createdAt: string;
  updatedAt: string;
  expiresAt: string;
  /** The image URL: viewer for browsers, the original for everything else. */
  url: string;
  links: Record<"json" | DocumentedFormat, string>;
  /** For `ifMatch` of an edit. Absent where the reply had none: of what was just created, and while it is processed. */
  etag?: string;
}

/** What the uploader is told, and nobody else. */
export interface CreatedImage extends ImageRecord {
  /** Page on which the image is renamed and deleted. Has the PIN in it. */
  editUrl: string;
  /** Proves that it is yours. It cannot be asked for again. */
  pin: string;
}

/** What is changed about how an image is served. */
export interface ReadOptions {
  /** Quality of a `jpg`. @default "high" */
  convert?: "low" | "medium" | "high" | "max" | undefined;
  /** `<W>x<H>`, `<W>x` or `x<H>`, sides 1 to 8192: fits into the box. Rasters are never enlarged. */
  resize?: string | undefined;
  /** Page of a PDF, from 1. @default the first; as `pdf` all */
  page?: number | undefined;
  /** Name of a preset of the service, in place of `convert`, `resize` and `page`. */
  preset?: string | undefined;
  /** Signature of an address that the host made, as it stands in the address. Everything else must be as in it. */
  s?: string | undefined;
  /** When the signed address ends, in Unix milliseconds. */
  until?: number | undefined;
}

export interface RequestOptions {
  /** Ends the request, and every wait between its tries, at once; the call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface UploadProgress {
  /** Of the request's body, which is a little longer than the file. Begins anew when an upload is repeated. */
  sentBytes: number;
  totalBytes: number;
}

export interface UploadOptions extends RequestOptions {
  /** @default the source's own name */
  fileName?: string | undefined;
  /** What the image is called, 1 to 255 characters. @default the file's name */
  name?: string | undefined;
  /** @default as the service has it: 24 hours from now */
  expiresAt?: Instant | undefined;
  /** Told while bytes go out; the last time when all have. What it throws ends the upload. */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Told once, as soon as the service has taken the image, before any wait: what ends the wait does not lose the PIN. */
  onCreated?: ((image: CreatedImage) => void) | undefined;
  /** Makes a repeated upload the same one: 1 to 255 visible ASCII characters. @default a random one for each call */
  idempotencyKey?: string | undefined;
  /** Whether to wait until the image can be served. `false`: the service is asked to process it later. @default true */
  wait?: boolean | undefined;
}
