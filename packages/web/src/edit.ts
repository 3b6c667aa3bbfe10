import type { EditView, Page } from "@outrigger/core";
import { type Address, absoluteAddress, formAddress } from "./addresses.ts";
import { documentPage } from "./document.ts";
import { offersOf } from "./formats.ts";
import { type Html, html } from "./html.ts";
import { dateMarkup, withDates } from "./phrases.ts";
import { thumbnail } from "./renditions.ts";
import { timeLeftText } from "./time-left.ts";

const DAY_MS = 86_400_000;
/** Pixels of the thumbnail's sides, twice what the style sheet shows. */
const THUMBNAIL_SIDE = 192;

const DURATIONS: readonly (readonly [label: string, ms: number])[] = [
  ["1 hour from now", DAY_MS / 24],
  ["1 day from now", DAY_MS],
  ["7 days from now", 7 * DAY_MS],
  ["30 days from now", 30 * DAY_MS],
  ["365 days from now", 365 * DAY_MS],
];

/** The page to rename an image, change its expiry or delete it. The request must have the PIN. */
export function editPage(view: EditView, nowMs: number, productName: string): Page {
  const { image, notice, problem } = view;
  const picture = thumbnail(image, offersOf(image), THUMBNAIL_SIDE);
  const action = formAddress(view.action);
  const viewAddress = absoluteAddress(image.viewUrl);
  // A form without an action posts to the page's own address, which is correct too.
  const form = html`<form method="post" enctype="application/x-www-form-urlencoded"${
    action !== null && html` action="${action.href}"`
  }><input type="hidden" name="pin" value="${view.pin}">`;
  return documentPage({
    title: `Edit ${image.name}`,
    productName,
    baseUrl: image.baseUrl,
    layout: "edit",
    entry: "viewer",
    // The page's address holds the PIN, which must not leak to other sites as a referrer.
    head: html`<meta name="referrer" content="no-referrer">`,
    main: html`${notice !== undefined && html`<p class="banner notice" role="status">${withDates(notice)}</p>`}
${problem !== undefined && html`<p class="banner alarm" role="alert">${withDates(problem)}</p>`}
${subject(view, picture, viewAddress, nowMs)}
${updateSection(form, view, nowMs)}
${deleteSection(form)}`,
    pictures: picture === null ? [] : [picture],
    forms: action === null ? [] : [action],
  });
}

function subject({ image }: EditView, picture: Address | null, viewer: Address | null, nowMs: number): Html {
  return html`<div class="subject">${
    picture !== null && html`<img class="thumbnail" src="${picture.href}" alt="" width="96" height="96">`
  }<div>
<h1 dir="auto">${image.name}</h1>
<p>${expiryLine(image.expiresAt, nowMs)}</p>
${viewer !== null && html`<p><a href="${viewer.href}">View the image</a></p>`}
</div></div>`;
}

function expiryLine(expiresAt: string, nowMs: number): Html {
  const left = timeLeftText(expiresAt, nowMs);
  return html`Expires ${dateMarkup(expiresAt)}${left !== null && ` (${left})`}`;
}

function updateSection(form: Html, { image, maxLifetimeMs }: EditView, nowMs: number): Html {
  const durations = DURATIONS.filter(([, ms]) => ms <= maxLifetimeMs);
  return html`<section aria-labelledby="change"><h2 id="change">Change</h2>
${form}<input type="hidden" name="action" value="update">
<label for="name">Name</label>
<input id="name" name="name" value="${image.name}" maxlength="255" required autocomplete="off" dir="auto">
<label for="expires-in">Expires</label>
<select id="expires-in" name="expiresIn" aria-describedby="expires-hint"><option value="" selected>Don’t change</option>${durations.map(
    ([label, ms]) => html`<option value="${ms}">${label}</option>`,
  )}</select>
<label for="expires-at">Or pick a date and time (UTC)</label>
<input id="expires-at" name="expiresAt" type="datetime-local" autocomplete="off" aria-describedby="expires-hint"${
    // The service refuses dates outside these bounds.
    html` min="${minuteOf(nowMs + 60_000)}" max="${minuteOf(nowMs + maxLifetimeMs)}"`
  }>
<p class="hint" id="expires-hint">You can choose up to ${durationText(maxLifetimeMs)} from now.</p>
<button>Save changes</button>
</form></section>`;
}

/** The value of a `datetime-local` field, in UTC. */
function minuteOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16);
}

function durationText(ms: number): string {
  const [unit, length] =
    ms >= 2 * DAY_MS ? ["days", DAY_MS] : ms >= DAY_MS / 12 ? ["hours", DAY_MS / 24] : ["minutes", 60_000];
  return `${Math.floor(ms / length)} ${unit}`;
}

function deleteSection(form: Html): Html {
  return html`<section class="danger" aria-labelledby="delete"><h2 id="delete">Delete</h2>
<p>This deletes the image immediately, for everyone and in every format. This can’t be undone.</p>
${form}<input type="hidden" name="action" value="delete">
<label class="check"><input type="checkbox" name="confirm" value="yes" required> Yes, delete this image</label>
<button>Delete image</button>
</form></section>`;
}
