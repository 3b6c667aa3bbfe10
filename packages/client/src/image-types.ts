import type { AddressedRendition, ImageDetails } from "@outrigger/core";
import type { Instant } from "./checks.ts";

/** Formats with a link in the record. */
export type DocumentedFormat = Exclude<keyof ImageDetails["links"], "json">;

/** Formats in which every image is served; `webp` and `avif` extend the documented formats. */
export type ImageFormat = DocumentedFormat | "webp" | "avif";

/** A format, or `auto`: the service chooses one by the `Accept` header of each request. */
export type AddressFormat = ImageFormat | "auto";

/** A point as shares of width and height from the top left corner, each 0 to 1. The service keeps four decimal digits. */
export type PicturePoint = NonNullable<ImageDetails["focus"]>;

/** The public record of an image. Dates are ISO 8601 in UTC with milliseconds. */
export interface ImageRecord extends Omit<ImageDetails, "type"> {
  /** Media type of the original, e.g. `"image/png"`. */
  type: string;
  /** For `ifMatch` of an edit. Absent in the reply to a create and during processing. */
  etag?: string;
}

/** The record with the secrets that only the reply to a create has. */
export interface CreatedImage extends ImageRecord {
  /** Address of the page to rename or delete the image. Contains the PIN: keep it private. */
  editUrl: string;
  /** Authorizes edits and deletion. The service never returns it again. */
  pin: string;
}

/** Parameters of a rendition. */
export interface ReadOptions extends Omit<AddressedRendition, "format"> {
  /** Signature from an address signed by the host. All other parameters must equal those of that address. */
  s?: string | undefined;
  /** Expiry of the signed address, in Unix milliseconds. */
  until?: number | undefined;
}

export interface DownloadOptions extends ReadOptions, RequestOptions {
  /** The `Accept` header, from which `auto` chooses, e.g. `image/webp, image/*;q=0.8`. @default that of `fetch`: JPEG or PNG */
  accept?: string | undefined;
}

export interface RequestOptions {
  /** Aborts the request and any wait between retries; the call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

export interface UploadProgress {
  /** Bytes of the request body, which is slightly longer than the file; of a resumable upload, bytes of the file. A retry starts at what the service has. */
  sentBytes: number;
  totalBytes: number;
}

export interface UploadOptions extends RequestOptions {
  /** Name of the image, 1 to 255 characters. @default the file name */
  name?: string | undefined;
  /** Text for readers who do not see the image, at most 1000 characters. @default none */
  description?: string | undefined;
  /**
   * Expiry of the image. `null`: never; a service that limits lifetimes rejects it with 400.
   * @default the default of the service, normally 24 hours from now
   */
  expiresAt?: Instant | null | undefined;
  /** The point that `fit: "cover"` keeps. @default none: the centre */
  focus?: PicturePoint | undefined;
  /**
   * Whether retries continue at the last byte that the service has, for more than 1 MiB. In browsers, a later call with the
   * same `File` and details continues, too. An abort deletes the part at the service. A service without resumable uploads
   * gets the file in one request.
   * @default false
   */
  resumable?: boolean | undefined;
  /** Called while bytes are sent, and finally when all are sent. An error that it throws aborts the upload. */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /**
   * An upload ticket or its address, which permits the upload by itself. It is sent to `baseUrl`. The image then has a PIN and an
   * edit URL only if the ticket was made with `pin`, and not if an earlier upload used the ticket.
   * @default none
   */
  ticket?: string | undefined;
  /** Called once the service has accepted the image, before any wait, so that a failed wait does not lose the PIN. */
  onCreated?: ((image: CreatedImage) => void) | undefined;
  /** Uploads with the same key create one image; not with a ticket, which is a key itself. 1 to 255 visible ASCII characters. @default a random key for each call */
  idempotencyKey?: string | undefined;
  /** Whether to wait until the image is ready. `false` requests asynchronous processing. @default true */
  wait?: boolean | undefined;
}
