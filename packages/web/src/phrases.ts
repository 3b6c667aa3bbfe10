import type { ImageView } from "@outrigger/core";
import { type Html, type HtmlValue, html } from "./html.ts";

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ["image/png", "PNG image"],
  ["image/jpeg", "JPEG image"],
  ["image/webp", "WebP image"],
  ["image/gif", "GIF image"],
  ["image/svg+xml", "SVG drawing"],
  ["image/x-photoshop", "Photoshop document"],
  ["application/pdf", "PDF document"],
]);

const DATE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});

/** A media type in words; an unknown type as it is. */
export function typeName(type: string): string {
  return TYPE_NAMES.get(type) ?? type;
}

/** Bytes in decimal units with three significant digits: `412 bytes`, `1.25 MB`. */
export function sizeText(bytes: number): string {
  let amount = bytes;
  let unit = "bytes";
  for (const larger of ["kB", "MB", "GB", "TB"]) {
    // 999.5 would be shown as 1000 of the smaller unit.
    if (amount < 999.5) break;
    amount /= 1000;
    unit = larger;
  }
  if (unit === "bytes") return bytes === 1 ? "1 byte" : `${amount} bytes`;
  return `${Number(amount.toPrecision(3))} ${unit}`;
}

const MIB = 1024 * 1024;

/** A limit as people set it: 25 MiB read `25 MB`. A limit that is not a whole number of MiB reads as {@link sizeText}. */
export function limitText(bytes: number): string {
  return bytes > 0 && bytes % MIB === 0 ? `${bytes / MIB} MB` : sizeText(bytes);
}

/** A date as a `<time>` element; other text stays text. */
export function dateMarkup(date: string): Html {
  const ms = Date.parse(date);
  if (Number.isNaN(ms)) return html`${date}`;
  return html`<time datetime="${new Date(ms).toISOString()}">${DATE.format(ms)} UTC</time>`;
}

const ISO_DATE = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** Text whose ISO 8601 dates are replaced by {@link dateMarkup}. */
export function withDates(text: string): HtmlValue {
  return text.split(ISO_DATE).map((part, index) => (index % 2 === 1 ? dateMarkup(part) : part));
}

/** A duration: `1 second`, `42 seconds`, `5 minutes`. Rounded up, so that a retry after it is not too early. */
export function waitText(seconds: number): string {
  if (seconds > 90) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}

/** `1600 × 900 pixels`; `null` where a side is unknown. */
export function dimensionsText({ width, height }: ImageView): string | null {
  return width === null || height === null ? null : `${width} × ${height} pixels`;
}
