import type { ImageView } from "@outrigger/core/images";
import { type Address, absoluteAddress } from "./addresses.ts";
import { offersOf } from "./formats.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { expiryMarkup } from "./phrases.ts";
import { thumbnail } from "./renditions.ts";
import { t } from "./texts.ts";

/** Pixels of the thumbnail's sides, twice what the style sheet shows. */
const THUMBNAIL_SIDE = 192;

export function thumbnailOf(image: ImageView): Address | null {
  return thumbnail(image, offersOf(image), THUMBNAIL_SIDE);
}

/** The field of a form for the description of an image. @param attributes More attributes of the field. */
export function descriptionField(value: string | null | undefined, attributes: HtmlValue): Html {
  return html`<label for="description">${t("image.description")}</label>
<input id="description" name="description" value="${value}" maxlength="1000" placeholder="${t("image.descriptionPlaceholder")}" autocomplete="off" dir="auto"${attributes}>`;
}

/** The image that a page is about: thumbnail, name, expiry, and a link to the viewer. */
export function subject(image: ImageView, picture: Address | null, nowMs: number | null): Html {
  const viewer = absoluteAddress(image.viewUrl);
  return html`<div class="subject">${
    picture !== null && html`<img class="thumbnail" src="${picture.href}" alt="" width="96" height="96">`
  }<div>
<h1 dir="auto">${image.name}</h1>
<p>${expiryMarkup(image.expiresAt, nowMs)}</p>
${viewer !== null && html`<p><a href="${viewer.href}">${t("image.view")}</a></p>`}
</div></div>`;
}
