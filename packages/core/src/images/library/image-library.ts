import { abortSignal } from "../../contract-rules.ts";
import type { PicturePoint } from "../../contracts/renderer.ts";
import * as rules from "../../option-rules.ts";
import { isOwnerName, MAX_OWNER_LENGTH } from "../authorize.ts";
import type { ActOptions } from "../life/act-rules.ts";
import type { OwnerLimits } from "../owners/owner-usage.ts";
import type { ImageDetails } from "../record/image-links.ts";
import type { OpenedImage, OpenOptions } from "./open-image.ts";
import type { ImageSource } from "./spool-source.ts";

/** A point in time: a date, Unix milliseconds, or ISO 8601 text with a zone. */
export type Moment = Date | number | string;

// Options with the rule `any` are parsed like parameters of requests.
export const ADD_RULES = {
  /**
   * 1 to 255 characters. @default The base name of `source.path`, the name of a File, the file name that the server of
   * `source.url` sends or the last segment of that URL, else "untitled"
   */
  name: rules.any<string>(),
  /** Text for readers who do not see the image, at most 1000 characters. @default none */
  description: rules.any<string>(),
  /**
   * Media type of the bytes. Bytes of another type reject with `unsupported_media`. @default detected from the bytes
   */
  type: rules.text("a media type, such as image/png"),
  /** Expiry, within `maxLifetimeMs` from now. `null`: never. @default now + `defaultLifetimeMs` */
  expiresAt: rules.any<Moment | null>(),
  /** The point that a cut rendition keeps, in shares of width and height from the top left. @default none */
  focus: rules.any<PicturePoint>(),
  /** Owner of the image, 1 to 256 characters. The owner's limits apply. @default none */
  owner: rules.value<string>(`a name of 1 to ${MAX_OWNER_LENGTH} characters`, isOwnerName),
  /** Limits of the owner, this image included. @default The service's `ownerLimits` */
  ownerLimits: rules.any<OwnerLimits>(),
  /**
   * Makes the call safe to repeat: for 24 hours, a call with the same key, owner, bytes or URL, `name`, `description` and
   * `type` resolves to the first image. A different image under the same key rejects with `conflict`. 1 to 255 visible ASCII
   * characters without quotes.
   * @default none
   */
  idempotencyKey: rules.any<string>(),
  /**
   * Whether to wait until the image can be read. `false` resolves once it is stored, with status `processing`.
   * @default true
   */
  wait: rules.preset(true, rules.flag()),
  /** Aborts the call. No trace of the image remains. */
  signal: abortSignal,
};

/** Options of a new image. */
export interface AddOptions extends rules.Options<typeof ADD_RULES> {}

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

export const CHANGE_RULES = {
  /** 1 to 255 characters. */
  name: rules.any<string>(),
  /** At most 1000 characters. `null` or empty removes it. */
  description: rules.any<string | null>(),
  /** Within `maxLifetimeMs` from now. `null`: never. */
  expiresAt: rules.any<Moment | null>(),
  /** The point that a cut rendition keeps. `null` removes it. */
  focus: rules.any<PicturePoint | null>(),
};

/** Fields to change, at least one. */
export interface ImageEdit extends rules.Options<typeof CHANGE_RULES> {}

export const EDIT_RULES = {
  /** Rejects with `conflict` if the image has another revision now. @default any */
  ifRevision: rules.text("a revision, as find() gives it"),
  signal: abortSignal,
};

export interface EditOptions extends rules.Options<typeof EDIT_RULES> {}

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
   * Changes name, description, expiry and focus. Rejects with `bad_request`, and with `conflict` after a concurrent change or while the
   * image is processed.
   */
  edit(id: string, change: ImageEdit, options?: EditOptions): Promise<StoredImage>;
  /**
   * The bytes of an image for the person who decides about it, even while it is held or withheld; otherwise like
   * {@link ImageLibrary.open}. Neither takes them from the memory of hot pictures nor leaves them there. Do not show them to other people.
   */
  review(id: string, options?: OpenOptions): Promise<OpenedImage>;
  /**
   * Deletes an image, even while it is processed or withheld. Rejects with `conflict` after a concurrent change.
   * @param options With `by`, the deletion is an act of an operator.
   */
  remove(id: string, options?: ActOptions): Promise<void>;
}
