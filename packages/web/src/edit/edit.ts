import type { EditInput, EditView, Page, UnlockView } from "@outrigger/core/images";
import { absoluteAddress, formAddress } from "../addresses.ts";
import { documentPage, type Site } from "../document.ts";
import { offersOf } from "../formats.ts";
import { type Html, html, textMarkup } from "../html.ts";
import { withDates } from "../phrases.ts";
import { descriptionField, subject, thumbnailOf } from "../subject.ts";
import { t } from "../texts.ts";
import { durationText, lifetimeChoices } from "../time-left.ts";
import { faultAttributes, faultLine } from "./faults.ts";

/** The page to rename and describe an image, change its expiry and its focal point, or delete it. The request must have the PIN. */
export function editPage(view: EditView, nowMs: number, site: Site): Page {
  const { image, notice, problem } = view;
  const picture = thumbnailOf(image);
  const action = formAddress(view.action);
  // A form without an action posts to the page's own address, which is correct too.
  const form = html`<form method="post" enctype="application/x-www-form-urlencoded"${
    action !== null && html` action="${action.href}"`
  }><input type="hidden" name="pin" value="${view.pin}">`;
  return documentPage({
    title: t("edit.title", { name: image.name }),
    ...site,
    baseUrl: image.baseUrl,
    layout: "edit",
    entry: "edit",
    nowMs,
    // The page's address holds the PIN, which must not leak to other sites as a referrer.
    head: html`<meta name="referrer" content="no-referrer">`,
    main: html`${notice !== undefined && html`<p class="banner notice" role="status">${withDates(notice)}</p>`}
${problem !== undefined && html`<p class="banner alarm" role="alert">${withDates(problem)}</p>`}
${subject(image, picture, nowMs)}
${updateSection(form, view, nowMs)}
${deleteSection(form, view)}`,
    pictures: offersOf(image).map(({ address }) => address),
    forms: action === null ? [] : [action],
  });
}

function updateSection(form: Html, view: EditView, nowMs: number): Html {
  const { image, typed } = view;
  const { maxLifetimeMs } = image;
  const durations = lifetimeChoices(image).filter(Number.isFinite);
  return html`<section aria-labelledby="change"><h2 id="change">${t("edit.change")}</h2>
${form}<input type="hidden" name="action" value="update"><input type="hidden" name="utcOffset" value="${typed?.utcOffset ?? ""}">
<label for="name">${t("edit.name")}</label>
<input id="name" name="name" value="${typed?.name ?? image.name}" maxlength="255" required autocomplete="off" dir="auto"${faultAttributes(view, "name")}>
${faultLine(view, "name")}${descriptionField(typed?.description ?? image.description, faultAttributes(view, "description"))}
${faultLine(view, "description")}<fieldset class="choices"><legend>${t("edit.expires")}</legend>
${choice(view, "keep", t("edit.keep"))}
<div class="choice">${choice(view, "in", t("edit.in"))}
<select id="expires-in" name="expiresIn" aria-label="${t("edit.inLabel")}"${faultAttributes(view, "expiresIn", "expires-hint")}><option value="">${t("edit.chooseDuration")}</option>${durations.map(
    (ms) => {
      const isTyped = typed?.expiresIn === String(ms);
      return html`<option value="${ms}"${isTyped && html` selected`}>${durationText(ms)}</option>`;
    },
  )}</select></div>
${faultLine(view, "expiresIn")}<div class="choice">${choice(view, "on", t("edit.on"))}
<input id="expires-at" name="expiresAt" type="datetime-local" autocomplete="off" aria-label="${t("edit.onLabel")}" value="${typed?.expiresAt ?? ""}"${
    // The service refuses dates outside these bounds.
    html` min="${minuteOf(nowMs + 60_000)}"${maxLifetimeMs !== null && html` max="${minuteOf(nowMs + maxLifetimeMs)}"`}`
  }${faultAttributes(view, "expiresAt", "zone expires-hint")}> <span id="zone">UTC</span></div>
${faultLine(view, "expiresAt")}${maxLifetimeMs === null && choice(view, "never", t("duration.never"))}
<p class="hint" id="expires-hint">${maxLifetimeMs !== null && t("edit.longest", { duration: durationText(maxLifetimeMs) })}</p></fieldset>
${focalPoint(view)}
<button class="main">${t("edit.save")}</button>
</form></section>`;
}

function choice({ typed }: EditView, value: EditInput["expiry"], label: string): Html {
  const isChosen = (typed?.expiry ?? "keep") === value;
  return html`<label class="check"><input type="radio" name="expiry" value="${value}"${isChosen && html` checked`}> ${label}</label>`;
}

/** The fields of the focal point. */
function focalPoint(view: EditView): Html {
  const { image, typed } = view;
  const [x, y] = typed === undefined ? (image.focus?.map(percentText) ?? []) : [typed.focusX, typed.focusY];
  const field = (name: "focusX" | "focusY", id: string, label: string, value: string | undefined) =>
    html`<div><label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="number" min="0" max="100" step="0.01" placeholder="50" value="${value}" autocomplete="off"${faultAttributes(view, name)}></div>
`;
  return html`<fieldset class="focal" aria-describedby="focal-hint"><legend>${t("edit.focal")}</legend>
<p class="hint" id="focal-hint">${t("edit.focalHint")}</p>
<div class="focal-fields">
${field("focusX", "focus-x", t("edit.fromLeft"), x)}${field("focusY", "focus-y", t("edit.fromTop"), y)}</div>
${faultLine(view, "focusX")}${faultLine(view, "focusY")}</fieldset>`;
}

/** A share as a percentage, with the digits that are stored: `33.33`. */
function percentText(share: number): string {
  return String(Number((share * 100).toFixed(2)));
}

/** The value of a `datetime-local` field, in UTC. */
function minuteOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16);
}

function deleteSection(form: Html, view: EditView): Html {
  return html`<section class="danger" aria-labelledby="delete"><h2 id="delete">${t("edit.delete")}</h2>
<p>${t("edit.deleteHint")}</p>
${form}<input type="hidden" name="action" value="delete">
<label class="check"><input type="checkbox" name="confirm" value="yes" required${faultAttributes(view, "confirm")}> ${t("edit.confirm")}</label>
${faultLine(view, "confirm")}
<button class="grave">${t("edit.deleteNow")}</button>
</form></section>`;
}

/** The page that asks for the PIN of an edit page. */
export function unlockPage({ baseUrl, action, viewUrl, problem }: UnlockView, site: Site): Page {
  const target = formAddress(action);
  const view = absoluteAddress(viewUrl);
  const isRefused = problem !== undefined;
  return documentPage({
    title: t("unlock.title"),
    ...site,
    baseUrl,
    layout: "edit",
    entry: "edit",
    head: html`<meta name="referrer" content="no-referrer">`,
    main: html`<h1>${t("unlock.title")}</h1>
<section><p id="pin-hint">${textMarkup("unlock.hint", { example: html`<code>4T9XK2M7Q8ZB3V5N</code>` })}</p>
<form method="get"${target !== null && html` action="${target.href}"`}><label for="pin">${t("unlock.pin")}</label>
<input id="pin" class="pin" name="pin" required autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="1024"
 aria-describedby="${isRefused ? "pin-fault pin-hint" : "pin-hint"}"${isRefused && html` aria-invalid="true"`}>
${isRefused && html`<p class="fault" role="alert" id="pin-fault">${withDates(problem)}</p>`}<button class="main">${t("unlock.continue")}</button></form></section>
${view !== null && html`<p class="actions"><a href="${view.href}">${t("unlock.back")}</a></p>`}`,
    forms: target === null ? [] : [target],
  });
}
