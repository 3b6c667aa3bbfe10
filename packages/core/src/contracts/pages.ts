import type { ConvertibleType, ImageFormat, ImageWarning, OriginalType, PicturePoint } from "./renderer.ts";

/** Server-rendered HTML with its Content-Security-Policy. */
export interface Page {
  html: string;
  /** Value of the `Content-Security-Policy` header that the page needs. */
  contentSecurityPolicy: string;
  /** More headers of the reply, such as `Content-Language`. `Vary` is added to that of the reply. */
  headers?: Readonly<Record<string, string>>;
}

/** A file that pages load: a script or a style sheet. */
export interface Asset {
  /** Value of the `Content-Type` header. */
  type: string;
  body: Uint8Array;
  /** The body, compressed ahead of time. */
  brotli?: Uint8Array;
  gzip?: Uint8Array;
}

/** Fields that every view has. */
export interface PlacedView {
  /**
   * Absolute URL of the mount point, without a trailing slash. Assets are at `{baseUrl}/assets/<name>`, the API at
   * `{baseUrl}/api/…`.
   */
  baseUrl: string;
  /** The languages that the reader prefers: value of the header `Accept-Language`. Absent: unknown. */
  acceptLanguage?: string;
}

/** The facts about an image that pages may show. No PIN. */
export interface ImageView extends PlacedView {
  id: string;
  name: string;
  /** Text for readers who do not see the image; `null`: none. */
  description: string | null;
  type: string;
  /** Bytes of the original. */
  size: number;
  /** Pixels of the shown page, upright; of a PDF at 2 px per point. `null`: unknown; likewise `height`. */
  width: number | null;
  height: number | null;
  pages: number | null;
  /** What the picture lacks of the uploaded file. */
  warnings: readonly ImageWarning[];
  /** Whether the uploaded file had Content Credentials (C2PA). `null`: none were found. */
  provenance: true | null;
  /** The point that a cut rendition keeps; `null`: the centre. */
  focus: PicturePoint | null;
  /** ThumbHash of the first page in base64; `null`: none. */
  placeholder: string | null;
  /** The page of the document to show, from 1. */
  page: number;
  /** First product of the uploader's User-Agent. */
  agent: { name: string; version: string | null } | null;
  createdAt: string;
  /** `null`: never. */
  expiresAt: string | null;
  /** Longest lifetime that may be requested, from now, in milliseconds. `null`: no limit, and none need be set. */
  maxLifetimeMs: number | null;
  /** Absolute URL of the viewer, for sharing. Its parameter `page` selects the page of a document. */
  viewUrl: string;
  /** The image waits for the host's review. Absent: it does not. */
  isHeld?: true;
  /** Absolute URL of the form to report the image. Absent: there is none. */
  reportUrl?: string;
  /** Absolute URL of each format that can be served now; empty while the image is being processed or held. */
  links: Partial<Record<ImageFormat, string>>;
  /**
   * Signs one of `links` after parameters were added to it. Without a signature this service rejects the URL,
   * or serves another size. Absent: the service serves any parameters.
   */
  sign?(address: string): string;
}

export interface EditView {
  image: ImageView;
  /** The form's action, for POST; contains no PIN. */
  action: string;
  /** The PIN that the client sent, for a hidden field. */
  pin: string;
  /** Notice above the form, e.g. that a change was saved. Dates in it are ISO 8601 in UTC. */
  notice?: string;
  /** Why the last attempt was rejected, if no single field is the reason. */
  problem?: string;
  /** After a rejection: the form as it was sent, for its fields. Absent: the values of the image, and no new expiry. */
  typed?: EditInput;
  /** After a rejection: the message about each wrong field, by its name. Dates in it are ISO 8601 in UTC. */
  faults?: Partial<
    Record<"name" | "description" | "expiresIn" | "expiresAt" | "focusX" | "focusY" | "confirm", string>
  >;
}

/** The values of the edit form's fields, by their names. Every value is untrusted text. */
export interface EditInput {
  name: string;
  /** Empty: none. */
  description: string;
  /**
   * Which expiry is requested: `keep` the present one, `in` (the duration of `expiresIn`), `on` (the time of
   * `expiresAt`), or `never`, only without a longest lifetime. The field that is not chosen must be empty.
   */
  expiry: "keep" | "in" | "on" | "never";
  /** Milliseconds from now, in digits. Empty: not filled in. */
  expiresIn: string;
  /** A value of `<input type="datetime-local">`. Empty: not filled in. */
  expiresAt: string;
  /** The time zone of `expiresAt`, such as `+02:00`. Empty: UTC. A script fills it in. */
  utcOffset: string;
  /** The focus of the image, in percent of its width from the left. Empty, together with `focusY`: the centre. */
  focusX: string;
  /** Percent of the height from the top. */
  focusY: string;
}

/** The view for an edit page that was requested without the right PIN. */
export interface UnlockView extends PlacedView {
  /** Action of the form with the field `pin`, for GET; contains no PIN. */
  action: string;
  /** Absolute URL of the image's viewer. */
  viewUrl: string;
  /** Why the PIN is requested again; absent if none was sent. */
  problem?: string;
}

/** The page for uploading. */
export interface UploadView extends PlacedView {
  /** The media types that the service accepts. A chooser that leaves out HEIC gets JPEG from iOS. */
  types: readonly (OriginalType | ConvertibleType)[];
  maxUploadBytes: number;
  /** Default lifetime of an image, and the longest that may be requested, in milliseconds. `null`: no end. */
  defaultLifetimeMs: number | null;
  maxLifetimeMs: number | null;
  /**
   * Which sizes an address without a signature gets: those that it names, none, or the next larger of these longer sides in
   * ascending order.
   */
  sizes: "any" | "signed" | readonly number[];
  /** Whether the service takes resumable uploads at `{base}/api/uploads`. @default false */
  resumable?: boolean;
  /** The form for browsers without JavaScript. Absent: this client may not upload, or the pages have no `created`. */
  form?: UploadForm;
  /** Why the form that was just sent is rejected. May be present without `form`. */
  refusal?: UploadRefusal;
}

/** A form that is sent as `multipart/form-data`: the file, and the fields of {@link UploadInput}. */
export interface UploadForm {
  /** The form's action, for POST. */
  action: string;
  /** Name of the file's field. */
  fileField: string;
  /** After a rejection: the other fields as they were sent. Absent: empty. */
  typed?: UploadInput;
}

/** The values of the upload form's fields, by their names. Every value is untrusted text. */
export interface UploadInput {
  /** Empty: the name of the file. */
  name: string;
  /** Empty: none. */
  description: string;
  /** Milliseconds from now, in digits, or `never`. Empty: the default lifetime. */
  expiresIn: string;
}

export interface UploadRefusal {
  status: number;
  /** Dates in it are ISO 8601 in UTC. */
  detail: string;
  /** Seconds after which a retry may succeed. Absent: unknown. */
  retryAfterSeconds?: number;
}

/** The reply to the upload form. */
export interface CreatedView {
  /** The new image; while it is processed, without `links`. */
  image: ImageView;
  /** Absolute URL of the edit page, with the PIN. */
  editUrl: string;
  pin: string;
}

/** An error page for people; with status 202, that the image is not ready yet. */
export interface ProblemView extends PlacedView {
  status: number;
  title: string;
  /** Dates in it are ISO 8601 in UTC. */
  detail: string;
  /** For 451: URL of the authority that blocks the image, with its reason. Absent: not published. */
  authority?: string;
  /** Seconds after which a retry may succeed. Absent: unknown. */
  retryAfterSeconds?: number;
  /** For a page that a document does not have: URL of the viewer with its first page. */
  firstPageUrl?: string;
  /** Likewise, with its last page. Absent: the document has one page. */
  lastPageUrl?: string;
  /** As in {@link ImageView}: for an image that is not shown yet, or a page that it does not have. */
  reportUrl?: string;
  /** For 410: the reader has just deleted the image. */
  justDeleted?: boolean;
}

/** The page to report an image to the operator. */
export interface ReportView extends PlacedView {
  /** Name of the image. */
  name: string;
  /** The form's action, for POST. Its fields are those of {@link ReportInput}. */
  action: string;
  /** Absolute URL of the image's viewer. */
  viewUrl: string;
  /** Values of the field `reason`. */
  reasons: readonly string[];
  /** Hours in which the operator decides. */
  hours: number;
  /** After a rejection: the form as it was sent. */
  typed?: ReportInput;
  /** After a rejection: the wrong fields. */
  faults?: readonly (keyof ReportInput)[];
  /** The report has been received: what names it to the operator, and when it will be decided. ISO 8601 in UTC. */
  filed?: { reference: string; dueAt: string };
}

/** The values of the fields to report an image. Every value is untrusted text. */
export interface ReportInput {
  reason: string;
  /** At most 2000 characters. Empty: none. */
  statement: string;
  /** At most 320 characters. Empty: none. */
  contact: string;
}

/** The HTML of a service. Pure: equal views give equal pages. Every value is untrusted text. */
export interface Pages {
  /** Name of the site, for other sites that embed its images. Absent: its host name. */
  readonly productName?: string;
  upload(view: UploadView, nowMs: number): Page;
  viewer(view: ImageView, nowMs: number): Page;
  /** The reply to the upload form. Absent: the service has no upload form, and the upload page needs JavaScript. */
  created?(view: CreatedView): Page;
  /** Absent: clients report images by the API alone. */
  report?(view: ReportView): Page;
  edit(view: EditView, nowMs: number): Page;
  unlock(view: UnlockView): Page;
  problem(view: ProblemView): Page;
  /**
   * A file that these pages load from `{baseUrl}/assets/<name>`; `undefined` for an unknown name. The name
   * changes with the bytes, so browsers may cache the file forever.
   */
  asset(name: string): Asset | undefined;
}
