import { isImageId, plainPin, pointText, requireImageId } from "./checks.ts";
import type { AddressFormat, ReadOptions } from "./image-types.ts";

const FORMATS: readonly string[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif", "auto"];
const API_ADDRESS = /^(.*)\/api\/images\/([^/]+)\.(json|jpeg|png|jpg|gif|svg|psd|pdf|webp|avif|auto)\/?$/;
const PAGE_ADDRESS = /^(.*)\/([A-Za-z0-9_-]{22})(?:\/(?:view|edit))?$/;

export function recordAddress(baseUrl: string, id: string): string {
  requireImageId(id);
  return `${baseUrl}/api/images/${id}.json`;
}

/** Address of an image in a format. Throws a TypeError for an invalid ID, format or point. */
export function formatAddress(
  baseUrl: string,
  id: string,
  format: AddressFormat,
  options: ReadOptions = {},
): string {
  requireImageId(id);
  if (!FORMATS.includes(format)) throw new TypeError(`format must be one of ${FORMATS.join(", ")}`);
  const { convert, resize, page, fit, at, background, preset, until, s } = options;
  const place = typeof at === "object" ? pointText("at", at) : at;
  const query = queryOf({ convert, resize, page, fit, at: place, background, preset, until, s });
  return `${baseUrl}/api/images/${id}.${format}${query}`;
}

export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Parameters as a query with its question mark. Undefined ones are omitted; lists are separated by commas. */
export function queryOf(parameters: Query): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}

/** The parts of an image address. */
export interface ImageAddress {
  /** The mount point, for `createImagesClient`. */
  baseUrl: string;
  id: string;
  /** The PIN of an edit URL; `null` without one. */
  pin: string | null;
}

/**
 * Parses any address of an image: the image URL, its viewer, its edit page, its record, any of its formats. `null` for any
 * other text.
 */
export function parseImageAddress(address: string): ImageAddress | null {
  if (!URL.canParse(address)) return null;
  const { protocol, origin, pathname, searchParams } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") return null;
  const api = API_ADDRESS.exec(pathname);
  // Below `/api/images` only formats have addresses.
  const page = api === null && !pathname.includes("/api/images/") ? PAGE_ADDRESS.exec(pathname) : null;
  const [, mountPath = "", id] = api ?? page ?? [];
  if (!isImageId(id)) return null;
  return { baseUrl: origin + mountPath, id, pin: plainPin(searchParams.get("pin")) };
}
