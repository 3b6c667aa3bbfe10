import type { ImageView } from "@outrigger/core/images";
import { thumbHashToRGBA } from "thumbhash";
import { type Html, html } from "./html.ts";
import type { Size } from "./renditions.ts";

/** Coloured cells per side. More would cost bytes of the page, and blurred they look the same. */
const CELLS = [0, 1, 2, 3];

/**
 * A blurred picture to show until the real one is loaded, drawn by attributes alone: the page's policy permits neither `data:`
 * addresses nor styles of a single page. `null` for a picture that may be transparent, which would not cover it.
 */
export function lookOf({ page, type, placeholder }: ImageView, { width, height }: Size): Html | null {
  // A frame of an animation may be transparent where the first one is not.
  if (page !== 1 || type === "image/gif" || placeholder === null) return null;
  const hash = Buffer.from(placeholder, "base64");
  if (hasAlpha(hash)) return null;
  const { w, h, rgba } = thumbHashToRGBA(hash);
  const colorAt = (x: number, y: number) => {
    const at =
      4 * (Math.floor(((y + 0.5) * h) / CELLS.length) * w + Math.floor(((x + 0.5) * w) / CELLS.length));
    return Buffer.from(rgba.subarray(at, at + 3)).toString("hex");
  };
  // Each cell covers the ones to its left and above. The outer ones reach beyond the edge, where the blur would fade.
  const cells = CELLS.flatMap((y) =>
    CELLS.map((x) => html`<path fill="#${colorAt(x, y)}" d="M${x || -1} ${y || -1}h5v5h-5z"/>`),
  );
  // The inner element clips the cells at the edge of the picture, also where the outer one is wider.
  return html`<svg aria-hidden="true" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><svg viewBox="0 0 ${CELLS.length} ${CELLS.length}" preserveAspectRatio="none"><filter id="blur"><feGaussianBlur stdDeviation=".5"/></filter><g filter="url(#blur)">${cells}</g></svg></svg>`;
}

/** Whether a ThumbHash says that its picture has transparent parts, or is none. */
function hasAlpha(hash: Buffer): boolean {
  return hash.length < 5 || hash.readUInt8(2) > 127;
}
