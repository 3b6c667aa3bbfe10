import type { EditView } from "@outrigger/core/images";
import { offersOf } from "../formats.ts";
import { type Html, html } from "../html.ts";
import { changedAddress, cutOf, fitted, sizeOf, stillPicture } from "../renditions.ts";
import { t } from "../texts.ts";
import { faultAttributes, faultLine } from "./faults.ts";

/** Pixels of the sides of the picture, about twice what the style sheet shows. */
const PICTURE_SIDE = 640;
/** CSS pixels of the box of the picture, as in the style sheet. */
const SHOWN = { width: 352, height: 300 };
/** The cuts that the page shows: CSS pixels, as in the style sheet. */
const CUTS = [
  ["editing.square", "square", { width: 112, height: 112 }],
  ["editing.wide", "wide", { width: 192, height: 108 }],
] as const;

/**
 * The fields of the focal point, with the picture. The page's script lets readers click it, and draws the cuts while they do;
 * without the script, the page shows the cuts of the saved point.
 */
export function focalPoint(view: EditView): Html {
  const { image, typed } = view;
  const [x, y] = typed === undefined ? (image.focus?.map(percentText) ?? []) : [typed.focusX, typed.focusY];
  return html`<fieldset class="focal" aria-describedby="focal-hint"><legend>${t("editing.focal")}</legend>
<p class="hint" id="focal-hint">${t("edit.focalHint")}</p>
${preview(view)}<div class="focal-fields">
<div><label for="focus-x">${t("edit.fromLeft")}</label>
<input id="focus-x" name="focusX" type="number" min="0" max="100" step="0.01" placeholder="50" value="${x}" autocomplete="off"${faultAttributes(view, "focusX")}></div>
<div><label for="focus-y">${t("edit.fromTop")}</label>
<input id="focus-y" name="focusY" type="number" min="0" max="100" step="0.01" placeholder="50" value="${y}" autocomplete="off"${faultAttributes(view, "focusY")}></div>
</div>
${faultLine(view, "focusX")}${faultLine(view, "focusY")}</fieldset>`;
}

/** `null` when there is no raster of the image. */
function preview({ image }: EditView): Html | null {
  const offers = offersOf(image);
  const picture = stillPicture(image, offers);
  if (picture === null) return null;
  const natural = sizeOf(image);
  const size = natural === null ? null : fitted(natural, SHOWN, true);
  const { href } = changedAddress(image, picture, "resize", `${PICTURE_SIDE}x${PICTURE_SIDE}`);
  return html`<div class="focal-view"><div class="focal-picture"><img src="${href}" alt=""${
    size !== null && html` width="${size.width}" height="${size.height}"`
  }></div>
<noscript><div class="cuts">${CUTS.map(([name, shape, { width, height }]) => {
    const cut = cutOf(image, picture, { width: 2 * width, height: 2 * height });
    return html`<figure><img class="cut ${shape}" src="${cut.href}" alt="" width="${width}" height="${height}"><figcaption>${t(name)}</figcaption></figure>`;
  })}</div></noscript></div>
`;
}

/** A share as a percentage, with the digits that are stored: `33.33`. */
function percentText(share: number): string {
  return String(Number((share * 100).toFixed(2)));
}
