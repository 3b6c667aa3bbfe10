import type { EditInput, EditView, Page } from "@outrigger/core";
import { type Address, absoluteAddress, formAddress } from "./addresses.ts";
import { documentPage } from "./document.ts";
import { offersOf } from "./formats.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { dateMarkup, withDates } from "./phrases.ts";
import { thumbnail } from "./renditions.ts";
import { durationText, timeLeftText } from "./time-left.ts";

const DAY_MS = 86_400_000;
/** Pixels of the thumbnail's sides, twice what the style sheet shows. */
const THUMBNAIL_SIDE = 192;

const DURATIONS_MS: readonly number[] = [DAY_MS / 24, DAY_MS, 7 * DAY_MS, 30 * DAY_MS, 365 * DAY_MS];

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
    entry: "edit",
    // The page's address holds the PIN, which must not leak to other sites as a referrer.
    head: html`<meta name="referrer" content="no-referrer">`,
    main: html`${notice !== undefined && html`<p class="banner notice" role="status">${withDates(notice)}</p>`}
${problem !== undefined && html`<p class="banner alarm" role="alert">${withDates(problem)}</p>`}
${subject(view, picture, viewAddress, nowMs)}
${updateSection(form, view, nowMs)}
${deleteSection(form, view)}`,
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

function updateSection(form: Html, view: EditView, nowMs: number): Html {
  const { image, maxLifetimeMs, typed } = view;
  return html`<section aria-labelledby="change"><h2 id="change">Change</h2>
${form}<input type="hidden" name="action" value="update"><input type="hidden" name="utcOffset" value="${typed?.utcOffset ?? ""}">
<label for="name">Name</label>
<input id="name" name="name" value="${typed?.name ?? image.name}" maxlength="255" required autocomplete="off" dir="auto"${faultAttributes(view, "name")}>
${faultLine(view, "name")}<fieldset class="choices"><legend>Expires</legend>
${choice(view, "keep", "Don’t change")}
<div class="choice">${choice(view, "in", "In")}
<select id="expires-in" name="expiresIn" aria-label="Time from now"${faultAttributes(view, "expiresIn", "expires-hint")}><option value="">Choose a duration</option>${DURATIONS_MS.filter(
    (ms) => ms <= maxLifetimeMs,
  ).map((ms) => {
    const isTyped = typed?.expiresIn === String(ms);
    return html`<option value="${ms}"${isTyped && html` selected`}>${durationText(ms)}</option>`;
  })}</select></div>
${faultLine(view, "expiresIn")}<div class="choice">${choice(view, "on", "On")}
<input id="expires-at" name="expiresAt" type="datetime-local" autocomplete="off" aria-label="Date and time" value="${typed?.expiresAt ?? ""}"${
    // The service refuses dates outside these bounds.
    html` min="${minuteOf(nowMs + 60_000)}" max="${minuteOf(nowMs + maxLifetimeMs)}"`
  }${faultAttributes(view, "expiresAt", "zone expires-hint")}> <span id="zone">UTC</span></div>
${faultLine(view, "expiresAt")}<p class="hint" id="expires-hint">You can choose up to ${durationText(maxLifetimeMs)}.</p></fieldset>
<button>Save changes</button>
</form></section>`;
}

function choice({ typed }: EditView, value: EditInput["expiry"], label: string): Html {
  const isChosen = (typed?.expiry ?? "keep") === value;
  return html`<label class="check"><input type="radio" name="expiry" value="${value}"${isChosen && html` checked`}> ${label}</label>`;
}

type Faulty = keyof NonNullable<EditView["faults"]>;

/** Names the texts that describe a field. The first wrong field gets the focus. */
function faultAttributes({ faults = {} }: EditView, name: Faulty, described = ""): HtmlValue {
  if (faults[name] === undefined) return described !== "" && html` aria-describedby="${described}"`;
  const isFirst = ORDER.find((each) => faults[each] !== undefined) === name;
  return html` aria-invalid="true" aria-describedby="${`${name}-fault ${described}`.trim()}"${isFirst && html` autofocus`}`;
}

const ORDER: readonly Faulty[] = ["name", "expiresIn", "expiresAt", "confirm"];

function faultLine({ faults = {} }: EditView, name: Faulty): HtmlValue {
  const fault = faults[name];
  return fault !== undefined && html`<p class="fault" id="${name}-fault">${withDates(fault)}</p>\n`;
}

/** The value of a `datetime-local` field, in UTC. */
function minuteOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16);
}

function deleteSection(form: Html, view: EditView): Html {
  return html`<section class="danger" aria-labelledby="delete"><h2 id="delete">Delete</h2>
<p>This deletes the image immediately, for everyone and in every format. This can’t be undone.</p>
${form}<input type="hidden" name="action" value="delete">
<label class="check"><input type="checkbox" name="confirm" value="yes" required${faultAttributes(view, "confirm")}> Yes, delete this image</label>
${faultLine(view, "confirm")}
<button>Delete image</button>
</form></section>`;
}
