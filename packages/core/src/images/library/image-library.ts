import type { Readable } from "node:stream";
import type { ByteRange } from "../../contracts/blob-store.ts";
import type { ImageFormat, Quality } from "../../contracts/renderer.ts";
import type { OwnerLimits } from "../owners/owner-usage.ts";
import type { ImageDetails } from "../record/image-links.ts";
import type { ImageSource } from "./spool-source.ts";

/** A moment: a date, Unix milliseconds, or ISO 8601 text with a zone. */
export type Moment = Date | number | string;

/** How an image is added. */
export interface AddOptions {
  /** 1 to 255 characters. @default The base name of `source.path`, the name of a File, else "untitled" */
  name?: string;
  /** Media type of the bytes; another type of the bytes rejects with `unsupported_media`. @default as the bytes tell */
  type?: string;
  /** When the image expires, within `maxLifetimeMs`. @default after `defaultLifetimeMs` */
  expiresAt?: Moment;
  /** Owner of the image, 1 to 256 characters. Its limits hold. @default none */
  owner?: string;
  /** What the owner may have, this image included. @default The service's `ownerLimits` */
  ownerLimits?: OwnerLimits;
  /**
   * Makes the call safe to repeat: for a day, a call with the same key, owner, bytes, `name` and `type` resolves to the first
   * image. Another image under the key rejects with `conflict`. 1 to 255 visible ASCII characters without quotes.
   * @default none
   */
  idempotencyKey?: string;
  /** Whether to wait until the image can be read. `false`: resolves as soon as it is stored, with status `processing`. @default true */
  wait?: boolean;
  /** Ends the call, and leaves nothing of the image. */
  signal?: AbortSignal;
}

/** An image as `<id>.json` describes it, at one revision. */
export interface StoredImage extends ImageDetails {
  /** Changes with every edit; see {@link EditOptions.ifRevision}. */
  revision: string;
}

/** A new image, with the means to edit it. */
export interface AddedImage extends StoredImage {
  /** URL of the edit page; it contains the PIN. */
  editUrl: string;
  /** Allows to edit and to delete the image over HTTP. Show it to its uploader alone. */
  pin: string;
}

/** Which bytes of an image are opened. */
export interface OpenOptions {
  /** @default the original, for which there is nothing else to choose but `range` */
  format?: ImageFormat | "jpeg";
  /** `<MaxWidth>x<MaxHeight>`, `<MaxWidth>x` or `x<MaxHeight>`, with sides of 1 to 8192 pixels. */
  resize?: string;
  /** Quality of a JPEG; other formats ignore it. */
  convert?: Quality;
  /** Page of a PDF, from 1. */
  page?: number;
  /** Name of one of the option `presets`, in place of `resize`, `convert` and `page`. */
  preset?: string;
  /** The part to open, both ends included; an end beyond the bytes is cut. @default all bytes */
  range?: ByteRange;
  /** Ends the wait for a render, and the read of a remote store. */
  signal?: AbortSignal;
}

/** Bytes of an image. */
export interface OpenedImage {
  /** Must be read to its end or destroyed. */
  body: Readable;
  /** Bytes of the whole, also when a range is opened. */
  size: number;
  /** Media type. */
  type: string;
  /** Strong entity tag with its quotes, as over HTTP. */
  etag: string;
  /** When the image was created. */
  lastModified: Date;
}

/** What is changed; at least one of the two. */
export interface ImageEdit {
  /** 1 to 255 characters. */
  name?: string;
  /** Within `maxLifetimeMs` from now. */
  expiresAt?: Moment;
}

export interface EditOptions {
  /** Rejects with `conflict` where the image has another revision by now. @default any */
  ifRevision?: string;
  signal?: AbortSignal;
}

/**
 * Images in code. The same admission, storage, owner limits and life as over HTTP, where `authorize`, PINs, rate limits and
 * the policy of `sizes` are asked in addition. Expected failures reject with a `ServiceError`: `not_found`, `withheld` and
 * `gone` as the image's life says, in this order; `store_unavailable`, `no_space` and `damaged` for trouble of the storage;
 * `overloaded` when too much is to be rendered or the service is closed. Addresses are absolute where `publicUrl` is set,
 * else paths below the mount point. An option that does not exist, or of another type, rejects with a TypeError.
 */
export interface ImageLibrary {
  /**
   * Stores a picture or document. Rejects with `too_large`, `unsupported_media`, `too_costly`, `bad_request`, `conflict` for
   * its idempotency key, `forbidden` for an owner without room, and with the error of a source stream that fails.
   * @example
   * const { id, url } = await images.add({ path: "/srv/avatars/anna.jpg" }, { owner: "anna", expiresAt: "2030-01-31T12:00Z" });
   */
  add(source: ImageSource, options?: AddOptions): Promise<AddedImage>;
  /**
   * Opens the original or a rendition, of exactly the size that is asked for. Rejects with `processing` (`retryAfterMs`) until
   * the image is ready, with `bad_request` for parameters out of range and a range that begins beyond the bytes, and with
   * `not_implemented`, `unsupported_media` and `too_costly` for what cannot be rendered.
   * @example
   * const { body, type } = await images.open(id, { format: "webp", resize: "800x" });
   */
  open(id: string, options?: OpenOptions): Promise<OpenedImage>;
  /** Describes an image, also while it is processed. */
  find(id: string, options?: { signal?: AbortSignal }): Promise<StoredImage>;
  /** Changes name and expiry. Rejects with `bad_request`, and with `conflict` after another change and while it is processed. */
  edit(id: string, change: ImageEdit, options?: EditOptions): Promise<StoredImage>;
  /** Deletes an image, also while it is processed or withheld. Rejects with `conflict` when it is changed at the same time. */
  remove(id: string): Promise<void>;
}
