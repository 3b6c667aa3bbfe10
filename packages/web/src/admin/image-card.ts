import type { ImageReport, ListedImage, SameBytes } from "@outrigger/core";
import { type Html, html, textMarkup } from "../html.ts";
import { dateMarkup, expiryMarkup, sizeText, typeName } from "../phrases.ts";
import { reasonText } from "../report.ts";
import { t } from "../texts.ts";
import { timeLeftText } from "../time-left.ts";

/** Pages of a document with a link each. */
const LINKED_PAGES = 20;

/** An image in the list. Names, owners and reasons are texts of strangers. */
export function imageCard(
  image: ListedImage,
  report: ImageReport | undefined,
  same: SameBytes | undefined,
  base: string,
  isBlurred: boolean,
  nowMs: number,
): Html {
  const { id, name, state, owner, createdAt, expiresAt, type, size, reason } = image;
  const isOver = !["processing", "held", "ready", "withheld"].includes(state);
  const title = name === "" ? id : name;
  const large = `${base}/${id}.${type === "image/gif" ? "gif" : "jpg"}`;
  return html`<li class="shot">
${
  isOver || state === "processing"
    ? html`<span class="frame"></span>`
    : html`<a class="frame" href="${large}?large"><img src="${base}/${id}.jpg" alt="${t("admin.openImage", { name: title })}" loading="lazy" decoding="async"></a>`
}
<div class="told"><p><b dir="auto">${title}</b> <span class="badge">${t(`admin.state.${state}`)}</span>${same !== undefined && same.denied.length > 0 && html` <span class="badge">${t("admin.denied")}</span>`}</p>
${report !== undefined && reportFacts(report, nowMs)}
${reason !== undefined && html`<p dir="auto">“${reason}”</p>`}
${
  !isOver &&
  html`<p class="soft">${typeName(type)}, ${sizeText(size)}</p>
<p class="soft">${textMarkup("admin.uploaded", { date: dateMarkup(new Date(createdAt).toISOString()) })}</p>
<p class="soft">${state === "held" ? t("admin.heldExpiry") : expiryMarkup(expiresAt === null ? null : new Date(expiresAt).toISOString(), nowMs)}</p>`
}
${same !== undefined && same.copies > 0 && html`<p class="soft">${t("admin.copyCount", { count: same.copies })}</p>`}
${owner !== null && html`<p class="soft">${textMarkup("admin.ownedBy", { owner: html`<a dir="auto" href="${base}/${search({ owner, blur: isBlurred ? "1" : "" })}">${owner}</a>` })}</p>`}
<p class="soft"><code>${id}</code></p>
${pageLinks(image, large)}</div>
<label class="pick"><input type="checkbox" name="${id}" value="yes" aria-label="${t("admin.chooseNamed", { name: title })}"> ${t("admin.choose")}</label>
</li>`;
}

/** What reporters said. Their contacts are shown here alone. */
function reportFacts(
  { dueAt, count, reasons, statements, contacts, reference }: ImageReport,
  nowMs: number,
): Html {
  const isLate = dueAt <= nowMs;
  const left = isLate ? t("admin.overdue") : timeLeftText(new Date(dueAt).toISOString(), nowMs);
  return html`<p><span class="badge${isLate && " late"}">${left}</span> ${t("admin.reports", { count, reasons: reasons.map(reasonText).join("; ") })}</p>
<p class="soft">${textMarkup("admin.due", { date: dateMarkup(new Date(dueAt).toISOString()), reference: html`<code>${reference}</code>` })}</p>
${
  statements.length + contacts.length > 0 &&
  html`<details><summary>${t("admin.written")}</summary>${statements.map(
    (text) => html`<blockquote dir="auto">${text}</blockquote>`,
  )}${contacts.map((contact) => html`<p dir="auto">${t("admin.contact", { contact })}</p>`)}</details>`
}`;
}

function pageLinks({ pages = 1 }: ListedImage, large: string) {
  if (pages < 2) return null;
  const numbers = Array.from({ length: Math.min(pages, LINKED_PAGES) }, (_, index) => index + 1);
  return html`<details><summary>${t("admin.pageCount", { count: pages })}</summary><p>${numbers.map(
    (page) => html`<a href="${large}?large&amp;page=${page}">${page}</a> `,
  )}</p></details>`;
}

/** A query of the parameters that have a value. */
export function search(parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ""));
  return query.size === 0 ? "" : `?${query}`;
}
