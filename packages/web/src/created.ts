import type { CreatedView, Page } from "@outrigger/core/images";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, type Site } from "./document.ts";
import { html, textMarkup } from "./html.ts";
import { subject, thumbnailOf } from "./subject.ts";
import { t } from "./texts.ts";

/** The reply to the upload form. No list of uploads keeps the PIN without JavaScript, so the page asks to save it. */
export function createdPage({ image, editUrl, pin }: CreatedView, site: Site): Page {
  const base = absoluteAddress(image.baseUrl);
  const viewer = absoluteAddress(image.viewUrl);
  const editor = absoluteAddress(editUrl);
  const picture = thumbnailOf(image);
  return documentPage({
    title: t("created.title", { name: image.name }),
    ...site,
    baseUrl: image.baseUrl,
    layout: "edit",
    head: html`<meta name="referrer" content="no-referrer">`,
    main: html`<p class="banner notice" role="status">${noticeOf(image)}</p>
${
  // The client has just chosen the lifetime.
  subject(image, picture, null)
}
<section aria-labelledby="share"><h2 id="share">${t("created.share")}</h2>
<label for="link">${t("created.link")}</label>
<input id="link" class="address" dir="ltr" readonly value="${viewer?.href}">
</section>
<section aria-labelledby="keep"><h2 id="keep">${t("created.keep")}</h2>
<p>${t("created.keepHint")}</p>
<label for="edit-link">${t("created.editLink")}</label>
<input id="edit-link" class="address" dir="ltr" readonly value="${editor?.href}">
<p class="hint">${textMarkup("created.pin", { pin: html`<code>${pin}</code>` })}</p>
${editor !== null && html`<p class="actions"><a href="${editor.href}">${t("created.edit")}</a></p>`}
</section>
${base !== null && html`<p class="actions"><a class="button main" href="${base.href.replace(/\/$/, "")}/">${t("created.another")}</a></p>`}`,
    pictures: picture === null ? [] : [picture],
  });
}

function noticeOf({ isHeld, links }: CreatedView["image"]): string {
  if (isHeld) return t("created.held");
  const isReady = Object.keys(links).length > 0;
  return t(isReady ? "created.done" : "created.processing");
}
