import type { Readable } from "node:stream";
import type { ByteRange } from "../../contracts/blob-store.ts";
import type { PicturePoint } from "../../contracts/renderer.ts";
import type { OwnerLimits } from "../owners/owner-usage.ts";
import type { ImageDetails } from "../record/image-links.ts";
import type { AddressedRendition } from "../renditions/write-address.ts";
import type { ImageSource } from "./spool-source.ts";

/** A point in time: a date, Unix milliseconds, or ISO 8601 text with a zone. */
export type Moment = Date | number | string;

/** Options of a new image. */
export interface AddOptions {
  /**
   * 1 to 255 characters. @default The base name of `source.path`, the name of a File, the file name that the server of
   * `source.url` sends or the last segment of that URL, else "untitled"
   */
  name?: string | undefined;
  /**
   * Media type of the bytes. Bytes of another type reject with `unsupported_media`. @default detected from the bytes
   */
  type?: string | undefined;
  /** Expiry, within `maxLifetimeMs` from now. `null`: never. @default now + `defaultLifetimeMs` */
  expiresAt?: Moment | null | undefined;
  /** The point that a cut rendition keeps, in shares of width and height from the top left. @default none */
  focus?: PicturePoint | undefined;
  /** Owner of the image, 1 to 256 characters. The owner's limits apply. @default none */
  owner?: string | undefined;
  /** Limits of the owner, this image included. @default The service's `ownerLimits` */
  ownerLimits?: OwnerLimits | undefined;
  /**
   * Makes the call safe to repeat: for 24 hours, a call with the same key, owner, bytes or URL, `name` and `type`
   * resolves to the first image. A different image under the same key rejects with `conflict`. 1 to 255 visible ASCII
   * characters without quotes.
   * @default none
   */
  idempotencyKey?: string | undefined;
  /**
   * Whether to wait until the image can be read. `false` resolves once it is stored, with status `processing`.
   * @default true
   */
  wait?: boolean | undefined;
  /** Aborts the call. No trace of the image remains. */
  signal?: AbortSignal | undefined;
}

/** An image as described by `<id>.json`, at one revision. */
export interface StoredImage extends ImageDetails {
  /** Changes with every edit; see {@link EditOptions.ifRevision}. */
  revision: string;
}

/** A new image, with its PIN. */
export interface AddedImage extends StoredImage {
  /** URL of the edit page; it contains the PIN. */
  editUrl: string;
  /** Allows editing and deleting the image over HTTP. Show it only to the uploader. */
  pin: string;
}

/** Selects the bytes of an image to open. Without `format`, that is the original, which takes no parameter of a rendition. */
export interface OpenOptions extends AddressedRendition {
  /** Byte range, both ends included. An end beyond the last byte is cut. @default all bytes */
  range?: ByteRange | undefined;
  /** Aborts waiting for a render, and reading from a remote store. */
  signal?: AbortSignal | undefined;
}

/** The opened bytes of an image. */
export interface OpenedImage {
  /** Read it to its end, or destroy it. */
  body: Readable;
  /** Bytes of the whole picture, even if only a range is opened. */
  size: number;
  /** Media type. */
  type: string;
  /** Strong entity tag with its quotes, as over HTTP. */
  etag: string;
  /** When the image was created. */
  lastModified: Date;
}

/** Fields to change, at least one. */
export interface ImageEdit {
  /** 1 to 255 characters. */
  name?: string | undefined;
  /** Within `maxLifetimeMs` from now. `null`: never. */
  expiresAt?: Moment | null | undefined;
  /** The point that a cut rendition keeps. `null` removes it. */
  focus?: PicturePoint | null | undefined;
}

export interface EditOptions {
  /** Rejects with `conflict` if the image has another revision now. @default any */
  ifRevision?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Images in code. Admission, storage, owner limits and life are the same as over HTTP. `authorize`, PINs, rate limits
 * and the policy of `sizes` apply over HTTP only.
 *
 * Expected failures reject with a `ServiceError`: `not_found`, `withheld` and `gone` for an image that is not alive,
 * in this order; `store_unavailable`, `no_space` and `damaged` for failures of the storage; `overloaded` if the
 * render queue is full or the service is closed. An unknown option, or one of the wrong type, rejects with a
 * TypeError.
 *
 * Addresses are absolute if `publicUrl` is set, else paths below the mount point.
 */
export interface ImageLibrary {
  /**
   * Stores a picture or document. Rejects with `too_large`, `unsupported_media`, `too_costly` or `bad_request`; with
   * `conflict` for its idempotency key; with `forbidden` for an owner at a limit; with the error of a failed source
   * stream; with `bad_request`, and the reason as `cause`, for a URL from which no file could be fetched.
   * @example
   * const { id, url } = await images.add({ path: "/srv/avatars/anna.jpg" }, { owner: "anna", expiresAt: null });
   */
  add(source: ImageSource, options?: AddOptions): Promise<AddedImage>;
  /**
   * Opens the original, or a rendition of exactly the requested size. Rejects with `processing` (`retryAfterMs`)
   * until the image is ready; with `bad_request` for parameters out of range and for a range that starts beyond the
   * last byte; with `not_implemented`, `unsupported_media` or `too_costly` if the image cannot be rendered.
   * @example
   * const { body, type } = await images.open(id, { format: "webp", resize: "800x" });
   */
  open(id: string, options?: OpenOptions): Promise<OpenedImage>;
  /** Describes an image, even while it is processed. */
  find(id: string, options?: { signal?: AbortSignal }): Promise<StoredImage>;
  /**
   * Changes name, expiry and focus. Rejects with `bad_request`, and with `conflict` after a concurrent change or while the
   * image is processed.
   */
  edit(id: string, change: ImageEdit, options?: EditOptions): Promise<StoredImage>;
  /** Deletes an image, even while it is processed or withheld. Rejects with `conflict` after a concurrent change. */
  remove(id: string): Promise<void>;
}
