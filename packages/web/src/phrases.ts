import type { ImageView, ImageWarning } from "@outrigger/core/images";
import { type Html, type HtmlValue, html, textMarkup } from "./html.ts";
import { said } from "./messages/said.ts";
import { dateText, numberText, t, textOf, unitText } from "./texts.ts";
import { timeLeftText } from "./time-left.ts";

/** A media type in words; an unknown type as it is. */
export function typeName(type: string): string {
  return textOf(`type.${type}`) ?? type;
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/**
 * Bytes in units of 1024 with three significant digits: `412 bytes`, `1.25 MB`. Sizes and limits have the same units, because
 * operators set limits such as 25 MiB.
 */
export function sizeText(bytes: number): string {
  let power = 0;
  // 999.5 would be shown as 1000 of the smaller unit.
  while (bytes / 1024 ** power >= 999.5 && power < UNITS.length - 1) power++;
  return amountText(bytes, power, 3);
}

/** Bytes in one unit; as bytes in full. @param digits Significant digits. */
function amountText(bytes: number, power: number, digits: number): string {
  const unit = UNITS[power] ?? "byte";
  if (power === 0) return unitText(bytes, unit);
  return unitText(bytes / 1024 ** power, unit, { unitDisplay: "short", maximumSignificantDigits: digits });
}

/** A size above a limit, and the limit, in one unit and with enough digits to differ: `25.01 MB` and `25 MB`. */
export function textsOverLimit(bytes: number, limit: number): { size: string; limit: string } {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, limit)) / 10));
  for (let digits = 3; power > 0 && digits <= 6; digits++) {
    const [size, most] = [amountText(bytes, power, digits), amountText(limit, power, digits)];
    if (size !== most) return { size, limit: most };
  }
  return { size: amountText(bytes, 0, 0), limit: amountText(limit, 0, 0) };
}

/** A date as a `<time>` element; other text stays text. */
export function dateMarkup(date: string): Html {
  const ms = Date.parse(date);
  if (Number.isNaN(ms)) return html`${date}`;
  return html`<time datetime="${new Date(ms).toISOString()}">${dateText(ms, "UTC")}</time>`;
}

/** When an image expires, and the time until then; without `nowMs` only when. @param expiresAt `null`: never. */
export function expiryMarkup(expiresAt: string | null, nowMs: number | null): Html {
  if (expiresAt === null) return html`${t("expiry.never")}`;
  const left = nowMs === null ? null : timeLeftText(expiresAt, nowMs);
  const date = dateMarkup(expiresAt);
  return left === null ? textMarkup("expiry.date", { date }) : textMarkup("expiry.left", { date, left });
}

const ISO_DATE = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A text of the service, whose ISO 8601 dates are replaced by {@link dateMarkup}. */
export function withDates(text: string): HtmlValue {
  return said(text)
    .split(ISO_DATE)
    .map((part, index) => (index % 2 === 1 ? dateMarkup(part) : part));
}

/** A duration: `1 second`, `42 seconds`, `5 minutes`. Rounded up, so that a retry after it is not too early. */
export function waitText(seconds: number): string {
  return seconds > 90 ? unitText(Math.ceil(seconds / 60), "minute") : unitText(seconds, "second");
}

/** Without separators of thousands. */
const PLAIN = { useGrouping: false };

/** A PDF has 2 px per point, and 72 points per inch. */
const MM_PER_PIXEL = 25.4 / 144;

/** `1600 × 900 pixels`, of a page of a document `210 × 297 mm`; `null` where a side is unknown. */
export function dimensionsText({ type, width, height }: Pick<ImageView, "type" | "width" | "height">) {
  if (width === null || height === null) return null;
  return type === "application/pdf"
    ? t("size.paper", { width: Math.round(width * MM_PER_PIXEL), height: Math.round(height * MM_PER_PIXEL) })
    : t("size.pixels", { width: numberText(width, PLAIN), height: numberText(height, PLAIN) });
}

/** What a picture lacks of the uploaded file; `null`: nothing. */
export function lossText(warnings: readonly ImageWarning[]): string | null {
  return warnings.length === 0 ? null : warnings.map((warning) => t(`lost.${warning}`)).join(", ");
}

/** The uploading program. Browsers call themselves Mozilla, which tells people little. */
export function agentText({ name, version }: NonNullable<ImageView["agent"]>): string {
  const product = version === null ? name : `${name} ${version}`;
  return name === "Mozilla" ? t("agent.browser", { product }) : product;
}
