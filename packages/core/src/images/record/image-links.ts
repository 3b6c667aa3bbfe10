import type {
  ConvertibleType,
  ImageFormat,
  ImageWarning,
  OriginalType,
  PicturePoint,
  Renderer,
} from "../../contracts/renderer.ts";
import type { Agent } from "../../http/request-headers.ts";
import { DOCUMENTED_FORMATS, FORMATS } from "./formats.ts";
import type { ImageRecord } from "./image-record.ts";
import { readinessOf } from "./image-state.ts";

/** An image without owner and PIN: the body of `<id>.json`. Dates are ISO 8601 in UTC. */
export interface ImageDetails {
  id: string;
  /** Name given by the uploader. Untrusted text. */
  name: string;
  /** Text for readers who do not see the image, for `alt`. Untrusted. `null`: none is set. */
  description: string | null;
  type: OriginalType;
  /** Type of the upload, if it was converted; until then, `type` is the likely one. `null`: it was not converted. */
  source: ConvertibleType | null;
  /** What the original lacks of the upload. */
  warnings: readonly ImageWarning[];
  /** Whether the upload had Content Credentials (C2PA), which the original may lack. `null`: none were found. */
  provenance: true | null;
  /** Bytes of the original, or of the upload while it is processed. */
  size: number;
  /**
   * Pixels, upright. `null` while the image is processed, or if the renderer cannot tell; likewise `height` and
   * `pages`.
   */
  width: number | null;
  height: number | null;
  /** Pages of a PDF, frames of an animation, else 1. */
  pages: number | null;
  /**
   * ThumbHash in base64: a blurred preview with the proportions of the picture. `null` while the image is processed or
   * held; likewise `color`.
   */
  placeholder: string | null;
  /** Average colour, `#rrggbb`. Also `null` for a picture that is wholly transparent. */
  color: string | null;
  /** The point that a cut rendition keeps, as shares of width and height from the top left; `null`: the centre. */
  focus: PicturePoint | null;
  /** `held`: it waits for the host's review, and its life starts when it is accepted. */
  status: "ready" | "processing" | "held";
  /** Program that uploaded the image; `null` for an image that was added in code. */
  agent: Agent | null;
  createdAt: string;
  updatedAt: string;
  /** `null`: never. */
  expiresAt: string | null;
  url: string;
  /** Addresses of the image by format. */
  links: Record<"json" | (typeof DOCUMENTED_FORMATS)[number], string>;
}

export function imageUrl(base: string, id: string): string {
  return `${base}/${id}`;
}

export function editUrl(base: string, id: string, pin: string): string {
  return `${base}/${id}/edit?pin=${pin}`;
}

export function formatUrl(base: string, id: string, suffix: ImageFormat | "json"): string {
  return `${base}/api/images/${id}.${suffix}`;
}

/** Whether this renderer can serve the image in a format. */
export function isServable(
  renderer: Renderer,
  record: Pick<ImageRecord, "type">,
  format: ImageFormat,
): boolean {
  return FORMATS[format].original === record.type || (renderer.canRender?.(record.type, format) ?? true);
}

/** @param base Absolute URL or path of the mount point, without a trailing slash. */
export function detailsOf(base: string, record: ImageRecord): ImageDetails {
  const { id, name, type, size, width, height, pages, agent } = record;
  const { description = null, source = null, warnings = [], provenance = null, focus = null } = record;
  // A preview shows the picture, also of a held image.
  const { placeholder = null, color = null } = readinessOf(record) === "ready" ? record : {};
  const iso = (ms: number) => new Date(ms).toISOString();
  const links = ["json" as const, ...DOCUMENTED_FORMATS].map((suffix) => [
    suffix,
    formatUrl(base, id, suffix),
  ]);
  return {
    ...{ id, name, description, type, source, warnings, provenance, size, width, height, pages },
    ...{ placeholder, color, focus },
    status: readinessOf(record),
    agent,
    createdAt: iso(record.createdAt),
    updatedAt: iso(record.updatedAt),
    expiresAt: record.expiresAt === null ? null : iso(record.expiresAt),
    url: imageUrl(base, id),
    links: Object.fromEntries(links) as ImageDetails["links"], // The keys are the suffixes above.
  };
}

/** Like {@link detailsOf}, with edit URL and PIN, which only the uploader receives. */
export function addedDetailsOf(base: string, record: ImageRecord, pin: string) {
  return { ...detailsOf(base, record), editUrl: editUrl(base, record.id, pin), pin };
}
