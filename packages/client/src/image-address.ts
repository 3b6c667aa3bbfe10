import { pointText, requireImageId } from "./checks.ts";
import type { AddressFormat, ReadOptions } from "./image-types.ts";

const FORMATS: readonly string[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif", "auto"];

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
