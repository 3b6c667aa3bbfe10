import type { Call } from "../../contracts/call.ts";
import type { ImageFormat, Renderer } from "../../contracts/renderer.ts";
import { ALL_FORMATS, DOCUMENTED_FORMATS, FORMATS } from "./formats.ts";
import type { ImageRecord } from "./image-record.ts";

/** Absolute URLs of one mount point, without a trailing slash. */
export function baseUrl(call: Call, publicUrl: string | null): string {
  return publicUrl ?? call.origin + call.mountPath;
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

/** Whether an image can be served in a format with this renderer. */
export function isServable(
  renderer: Renderer,
  record: Pick<ImageRecord, "type">,
  format: ImageFormat,
): boolean {
  return FORMATS[format].original === record.type || renderer.canRender(record.type, format);
}

/** The body of `.json`: the record as its readers see it, without owner or PIN. */
export function recordBody(base: string, record: ImageRecord): Record<string, unknown> {
  const { id } = record;
  const iso = (ms: number) => new Date(ms).toISOString();
  return {
    id,
    name: record.name,
    type: record.type,
    size: record.size,
    width: record.width,
    height: record.height,
    pages: record.pages,
    status: record.processing === null ? "ready" : "processing",
    agent: record.agent,
    createdAt: iso(record.createdAt),
    updatedAt: iso(record.updatedAt),
    expiresAt: iso(record.expiresAt),
    url: imageUrl(base, id),
    links: Object.fromEntries(
      ["json" as const, ...DOCUMENTED_FORMATS].map((suffix) => [suffix, formatUrl(base, id, suffix)]),
    ),
  };
}

/** `Link` of a created image (RFC 8288, which replaced RFC 5988): its record, its other formats, its edit form. */
export function createdLinks(base: string, record: ImageRecord, pin: string, renderer: Renderer): string {
  const links = [`<${formatUrl(base, record.id, "json")}>; rel="describedby"; type="application/json"`];
  for (const format of ALL_FORMATS) {
    if (!isServable(renderer, record, format)) continue;
    links.push(`<${formatUrl(base, record.id, format)}>; rel="alternate"; type="${FORMATS[format].type}"`);
  }
  links.push(`<${editUrl(base, record.id, pin)}>; rel="edit-form"`);
  return links.join(", ");
}
