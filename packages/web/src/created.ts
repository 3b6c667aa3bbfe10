import type { CreatedView, Page } from "@outrigger/core/images";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, type Site } from "./document.ts";
import { html } from "./html.ts";
import { subject, thumbnailOf } from "./subject.ts";

/** The reply to the upload form. No list of uploads keeps the PIN without JavaScript, so the page asks to save it. */
export function createdPage({ image, editUrl, pin }: CreatedView, site: Site): Page {
  const base = absoluteAddress(image.baseUrl);
  const viewer = absoluteAddress(image.viewUrl);
  const editor = absoluteAddress(editUrl);
  const picture = thumbnailOf(image);
  return documentPage({
    title: `Uploaded ${image.name}`,
    ...site,
    baseUrl: image.baseUrl,
    layout: "edit",
    head: html`<meta name="referrer" content="no-referrer">`,
    main: html`<p class="banner notice" role="status">${noticeOf(image)}</p>
${
  // The client has just chosen the lifetime.
  subject(image, picture, null)
}
<section aria-labelledby="share"><h2 id="share">Share</h2>
<label for="link">Link</label>
<input id="link" class="address" dir="ltr" readonly value="${viewer?.href}">
</section>
<section aria-labelledby="keep"><h2 id="keep">Edit or delete later</h2>
<p>Save the edit link now: this page shows it only once. Anyone with this link can edit or delete the image.</p>
<label for="edit-link">Edit link</label>
<input id="edit-link" class="address" dir="ltr" readonly value="${editor?.href}">
<p class="hint">The PIN in it is <code>${pin}</code>.</p>
${editor !== null && html`<p class="actions"><a href="${editor.href}">Edit or delete the image</a></p>`}
</section>
${base !== null && html`<p class="actions"><a class="button main" href="${base.href.replace(/\/$/, "")}/">Upload another image</a></p>`}`,
    pictures: picture === null ? [] : [picture],
  });
}

function noticeOf({ isHeld, links }: CreatedView["image"]): string {
  if (isHeld) return "Image uploaded. It waits for review; its link works once it is accepted.";
  const isReady = Object.keys(links).length > 0;
  return isReady ? "Image uploaded." : "Image uploaded. It is still processing; its link works in a moment.";
}
