import type { ImageView } from "@outrigger/core";
import { type Html, html } from "./html.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

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

/** A media type in words; the type itself where there are none. */
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

/** How long until `expiresAt`, rounded down so that it promises no more than is left: `23 hours left`. */
export function timeLeftText(expiresAt: string, nowMs: number): string | null {
  const leftMs = Date.parse(expiresAt) - nowMs;
  if (Number.isNaN(leftMs)) return null;
  if (leftMs <= 0) return "expired";
  if (leftMs < MINUTE_MS) return "less than a minute left";
  if (leftMs < 2 * MINUTE_MS) return "1 minute left";
  if (leftMs < 2 * HOUR_MS) return `${Math.floor(leftMs / MINUTE_MS)} minutes left`;
  if (leftMs < 2 * DAY_MS) return `${Math.floor(leftMs / HOUR_MS)} hours left`;
  return `${Math.floor(leftMs / DAY_MS)} days left`;
}

/** A moment for people and for machines; text that is no date stays text. */
export function dateMarkup(date: string): Html {
  const ms = Date.parse(date);
  if (Number.isNaN(ms)) return html`${date}`;
  return html`<time datetime="${new Date(ms).toISOString()}">${DATE.format(ms)} UTC</time>`;
}

/** `1600 × 900 pixels`; `null` where a side is unknown. */
export function dimensionsText({ width, height }: ImageView): string | null {
  return width === null || height === null ? null : `${width} × ${height} pixels`;
}
