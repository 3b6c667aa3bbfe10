import type { ImageFormat } from "./renderer.ts";

/** Server-rendered HTML with the policy it needs. */
export interface Page {
  html: string;
  /** Value of the `Content-Security-Policy` header under which it works. */
  contentSecurityPolicy: string;
}

/** What pages may know of an image. No PIN. */
export interface ImageView {
  id: string;
  name: string;
  type: string;
  /** Bytes of the original. */
  size: number;
  width: number | null;
  height: number | null;
  pages: number | null;
  /** First product of the uploader's User-Agent. */
  agent: { name: string; version: string | null } | null;
  createdAt: string;
  expiresAt: string;
  /** Absolute URL of the viewer, for sharing. */
  viewUrl: string;
  /** Absolute URL per format that can be served now; none while the image is being processed. */
  links: Partial<Record<ImageFormat, string>>;
}

export interface EditView {
  image: ImageView;
  /** Where the form posts to; carries no PIN. */
  action: string;
  /** The PIN that was sent, for a hidden field. */
  pin: string;
  /** Said above the form, e.g. that a change was made. */
  notice?: string;
  /** Why the last attempt was refused. */
  problem?: string;
}

/** A refusal for a person, or with 202 that there is nothing to see yet. */
export interface ProblemView {
  status: number;
  title: string;
  detail: string;
}

/** The HTML of a service. Pure: the same view gives the same page. Every value is untrusted text. */
export interface Pages {
  viewer(view: ImageView, nowMs: number): Page;
  edit(view: EditView, nowMs: number): Page;
  problem(view: ProblemView): Page;
}
