import { isImageId, isPin, requireImageId } from "./checks.ts";
import type { ImageFormat, ReadOptions } from "./image-types.ts";

const FORMATS: readonly string[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
const API_ADDRESS = /^(.*)\/api\/images\/([^/]+)\.(json|jpeg|png|jpg|gif|svg|psd|pdf|webp|avif)\/?$/;
const PAGE_ADDRESS = /^(.*)\/([A-Za-z0-9_-]{22})(?:\/(?:view|edit))?$/;

export function recordAddress(baseUrl: string, id: string): string {
  requireImageId(id);
  return `${baseUrl}/api/images/${id}.json`;
}

/** Address of an image in a format. Throws a TypeError for what is no ID or no format. */
export function formatAddress(
  baseUrl: string,
  id: string,
  format: ImageFormat,
  options: ReadOptions = {},
): string {
  requireImageId(id);
  if (!FORMATS.includes(format)) throw new TypeError(`format must be one of ${FORMATS.join(", ")}`);
  const { convert, resize, page, preset, until, s } = options;
  const query = queryOf({ convert, resize, page, preset, until, s });
  return `${baseUrl}/api/images/${id}.${format}${query}`;
}

/** Parameters as a query with its question mark; what is undefined is left out. */
export function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query}`;
}

/** What an address of an image says. */
export interface ImageAddress {
  /** The mount point, for `createImagesClient`. */
  baseUrl: string;
  id: string;
  /** As the edit URL carries it; `null` without. */
  pin: string | null;
}

/**
 * Takes apart any address that the service gives for an image: the image URL, its viewer, its edit page, its record, any of its
 * formats. `null` for anything else.
 */
export function parseImageAddress(address: string): ImageAddress | null {
  if (!URL.canParse(address)) return null;
  const { protocol, origin, pathname, searchParams } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") return null;
  const api = API_ADDRESS.exec(pathname);
  // Below `/api/images` nothing but formats is there.
  const page = api === null && !pathname.includes("/api/images/") ? PAGE_ADDRESS.exec(pathname) : null;
  const [, mountPath = "", id] = api ?? page ?? [];
  if (!isImageId(id)) return null;
  const pin = searchParams.get("pin");
  return { baseUrl: origin + mountPath, id, pin: isPin(pin) ? pin : null };
}
