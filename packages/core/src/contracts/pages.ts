import type { ImageFormat, OriginalType } from "./renderer.ts";

/** Server-rendered HTML with the policy it needs. */
export interface Page {
  html: string;
  /** Value of the `Content-Security-Policy` header under which it works. */
  contentSecurityPolicy: string;
}

/** A file that pages load: a script, a style sheet. */
export interface Asset {
  /** Value of the `Content-Type` header. */
  type: string;
  body: Uint8Array;
  /** The same, compressed ahead of time. */
  brotli?: Uint8Array;
  gzip?: Uint8Array;
}

/** Where a page stands. */
export interface PlacedView {
  /**
   * Absolute URL of the mount point, without a trailing slash. Assets are at `{baseUrl}/assets/<name>`, the API at
   * `{baseUrl}/api/…`.
   */
  baseUrl: string;
}

/** What pages may know of an image. No PIN. */
export interface ImageView extends PlacedView {
  id: string;
  name: string;
  type: string;
  /** Bytes of the original. */
  size: number;
  width: number | null;
  height: number | null;
  pages: number | null;
  /** The page of a document that is looked at, from 1. */
  page: number;
  /** First product of the uploader's User-Agent. */
  agent: { name: string; version: string | null } | null;
  createdAt: string;
  expiresAt: string;
  /** Absolute URL of the viewer, for sharing. Its parameter `page` chooses the page of a document. */
  viewUrl: string;
  /** Absolute URL per format that can be served now; none while the image is being processed. */
  links: Partial<Record<ImageFormat, string>>;
  /**
   * Signs one of `links` that was given parameters, without which this service would refuse it or serve another size. Absent: it
   * serves what it is asked for.
   */
  sign?(address: string): string;
}

export interface EditView {
  image: ImageView;
  /** Where the form posts to; carries no PIN. */
  action: string;
  /** The PIN that was sent, for a hidden field. */
  pin: string;
  /** Longest life that may be asked for, from now; milliseconds. */
  maxLifetimeMs: number;
  /** Said above the form, e.g. that a change was made. Dates in it are ISO 8601 in UTC. */
  notice?: string;
  /** Why the last attempt was refused. */
  problem?: string;
}

/** For somebody who came to the edit page without the right PIN. */
export interface UnlockView extends PlacedView {
  /** Where the form with the field `pin` goes, by GET; carries no PIN. */
  action: string;
  /** Absolute URL of the image's viewer. */
  viewUrl: string;
  /** Why they are asked again; absent for who sent none. */
  problem?: string;
}

/** The page for uploading. */
export interface UploadView extends PlacedView {
  /** Media types that are accepted. */
  types: readonly OriginalType[];
  maxUploadBytes: number;
  /** Life of an image for which none is asked, and the longest that may be asked for; milliseconds. */
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
}

/** A refusal for a person, or with 202 that there is nothing to see yet. */
export interface ProblemView extends PlacedView {
  status: number;
  title: string;
  /** Dates in it are ISO 8601 in UTC. */
  detail: string;
  /** Of 451: URL that tells who blocks it and why. Absent: not told. */
  authority?: string;
  /** When it is worth trying again. Absent: not known. */
  retryAfterSeconds?: number;
  /** Of 410: the reader has just deleted the image. */
  justDeleted?: boolean;
}

/** The HTML of a service. Pure: the same view gives the same page. Every value is untrusted text. */
export interface Pages {
  upload(view: UploadView): Page;
  viewer(view: ImageView, nowMs: number): Page;
  edit(view: EditView, nowMs: number): Page;
  unlock(view: UnlockView): Page;
  problem(view: ProblemView): Page;
  /** The page that shows the OpenAPI description at `{baseUrl}/api/openapi.json`. */
  reference(view: PlacedView): Page;
  /**
   * A file that these pages load from `{baseUrl}/assets/<name>`; `undefined`: there is none of this name. Its name changes
   * with its bytes, so that browsers may keep it for ever.
   */
  asset(name: string): Asset | undefined;
}
