import type { EditView, Page } from "@outrigger/core";
import { absoluteAddress, formAddress } from "./addresses.ts";
import { documentPage } from "./document.ts";
import { displayedOffer, offersOf } from "./formats.ts";
import { type Html, html } from "./html.ts";
import { dateMarkup, timeLeftText } from "./phrases.ts";

const DAY_MS = 86_400_000;

const DURATIONS: readonly (readonly [label: string, ms: number])[] = [
  ["1 hour from now", DAY_MS / 24],
  ["1 day from now", DAY_MS],
  ["7 days from now", 7 * DAY_MS],
  ["30 days from now", 30 * DAY_MS],
  ["365 days from now", 365 * DAY_MS],
];

/** The page for whoever holds the PIN: rename, change the expiry, delete. */
export function editPage(view: EditView, nowMs: number, productName: string): Page {
  const { image, notice, problem } = view;
  const displayed = displayedOffer(offersOf(image));
  const action = formAddress(view.action);
  const viewAddress = absoluteAddress(image.viewUrl);
  // Without an action a form posts to the page's own address, which is the right one as well.
  const form = html`<form method="post" enctype="application/x-www-form-urlencoded"${
    action !== null && html` action="${action.href}"`
  }><input type="hidden" name="pin" value="${view.pin}">`;
  return documentPage({
    title: `Edit ${image.name}`,
    productName,
    layout: "edit",
    // The page's own address carries the PIN; it must not travel to where the picture or a link leads.
    head: html`<meta name="referrer" content="no-referrer">`,
    main: html`<div class="subject">${
      displayed !== null && html`<img class="thumbnail" src="${displayed.address.href}" alt="">`
    }<div>
<h1 dir="auto">${image.name}</h1>
<p>${expiryLine(image.expiresAt, nowMs)}</p>
${viewAddress !== null && html`<p><a href="${viewAddress.href}">View the image</a></p>`}
</div></div>
${notice !== undefined && html`<p class="banner notice" role="status">${notice}</p>`}
${problem !== undefined && html`<p class="banner alarm" role="alert">${problem}</p>`}
${updateSection(form, view, nowMs)}
${deleteSection(form)}`,
    pictures: displayed === null ? [] : [displayed.address],
    forms: action === null ? [] : [action],
  });
}

function expiryLine(expiresAt: string, nowMs: number): Html {
  const left = timeLeftText(expiresAt, nowMs);
  return html`Expires ${dateMarkup(expiresAt)}${left !== null && ` (${left})`}`;
}

function updateSection(form: Html, { image }: EditView, nowMs: number): Html {
  const example = `${new Date(nowMs + 7 * DAY_MS).toISOString().slice(0, 16)}:00Z`;
  return html`<section aria-labelledby="change"><h2 id="change">Change</h2>
${form}<input type="hidden" name="action" value="update">
<label for="name">Name</label>
<input id="name" name="name" value="${image.name}" maxlength="255" required autocomplete="off" dir="auto">
<label for="expires-in">Expires</label>
<select id="expires-in" name="expiresIn"><option value="" selected>Keep as it is</option>${DURATIONS.map(
    ([label, ms]) => html`<option value="${ms}">${label}</option>`,
  )}</select>
<label for="expires-at">Or at an exact time</label>
<input id="expires-at" name="expiresAt" autocomplete="off" spellcheck="false" aria-describedby="expires-at-hint">
<p class="hint" id="expires-at-hint">A date with its time zone, such as <code>${example}</code>.
It counts while the choice above is “Keep as it is”.</p>
<button>Save changes</button>
</form></section>`;
}

function deleteSection(form: Html): Html {
  return html`<section class="danger" aria-labelledby="delete"><h2 id="delete">Delete</h2>
<p>The image goes away at once for everybody, in every format. This cannot be undone.</p>
${form}<input type="hidden" name="action" value="delete">
<label class="check"><input type="checkbox" name="confirm" value="yes" required> Yes, delete this image</label>
<button>Delete image</button>
</form></section>`;
}
