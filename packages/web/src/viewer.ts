import type { ImageView, Page, Quality } from "@outrigger/core/images";
import { type Address, absoluteAddress } from "./addresses.ts";
import { documentPage, type Site, sourceList } from "./document.ts";
import { addressOfPage, figure } from "./figure.ts";
import { type Offer, offersOf } from "./formats.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { agentText, dateMarkup, dimensionsText, lossText, sizeText, typeName } from "./phrases.ts";
import { previewTags } from "./preview-tags.ts";
import { changedAddress, pageAddress, sizeChoices } from "./renditions.ts";
import { sharePane } from "./share.ts";
import { t } from "./texts.ts";
import { timeLeftText } from "./time-left.ts";

const QUALITIES = ["low", "medium", "high", "max"] as const satisfies Quality[];

/** The page that shows an image. */
export function viewerPage(view: ImageView, nowMs: number, site: Site): Page {
  const offers = offersOf(view);
  const viewer = absoluteAddress(view.viewUrl);
  const address = viewer === null ? null : addressOfPage(viewer, view.page);
  return documentPage({
    title: view.name,
    ...site,
    baseUrl: view.baseUrl,
    entry: "viewer",
    layout: "viewer",
    head: previewTags(view, address, offers, site.productName),
    main: html`${figure(view, offers, viewer)}
<div class="headline"><h1 dir="auto" data-id="${view.id}" data-base="${view.baseUrl}">${view.name}</h1>
${
  offers.length > 0 &&
  html`<div class="toolbar">
${viewer !== null && drop(t("viewer.download"), html`${t("viewer.download")} <span aria-hidden="true">▾</span>`, downloadForm(view, viewer, offers))}
${drop(t("viewer.more"), "⋯", html`<div class="pane more">${sharePane(view, address, offers)}</div>`)}
</div>`
}
</div>
${facts(view, nowMs)}`,
    pictures: offers.map((offer) => offer.address),
    forms: viewer === null ? [] : [viewer],
    // To ask why the picture did not load.
    policy: { "connect-src": sourceList(offers.map((offer) => offer.address)) },
    reportUrl: view.reportUrl,
  });
}

/** A button that opens a pane below it. */
function drop(name: string, label: HtmlValue, pane: Html): Html {
  return html`<details class="drop" name="toolbar"><summary class="button plain" aria-label="${name}">${label}</summary>
${pane}</details>`;
}

function facts(view: ImageView, nowMs: number): Html {
  const agent = view.agent;
  const counted = t(view.type === "application/pdf" ? "viewer.pages" : "viewer.frames");
  const left = view.expiresAt === null ? null : timeLeftText(view.expiresAt, nowMs);
  return html`<details class="about"><summary>${t("viewer.details")}${left !== null && html` · <span class="left">${left}</span>`}</summary>
<dl>
${fact(t(view.type === "application/pdf" ? "viewer.pageSize" : "viewer.dimensions"), dimensionsText(view))}
${fact(counted, (view.pages ?? 1) > 1 && view.pages)}
${fact(t("viewer.size"), sizeText(view.size))}
${fact(t("viewer.type"), typeName(view.type))}
${fact(t("viewer.notKept"), lossText(view.warnings))}
${fact(t("viewer.credentials"), view.provenance && t("viewer.inFile"))}
${fact(t("viewer.uploaded"), dateMarkup(view.createdAt))}
${fact(t("viewer.uploadedWith"), agent !== null && agentText(agent))}
${fact(t("viewer.expires"), view.expiresAt === null ? t("duration.never") : dateMarkup(view.expiresAt))}
</dl></details>`;
}

function fact(term: string, value: HtmlValue): HtmlValue {
  if (value === null || value === undefined || value === false) return null;
  return html`<div><dt>${term}</dt><dd>${value}</dd></div>`;
}

/** The viewer's own address answers with the chosen file. */
function downloadForm(view: ImageView, viewer: Address, offers: readonly Offer[]): Html {
  // The page signs only its own links.
  const sizes = view.sign === undefined ? sizeChoices(view) : [];
  return html`<form class="pane" action="${viewer.href}">
<label for="download">${t("viewer.format")}</label><select id="download" name="download">${offers.flatMap((offer) => formatOptions(view, offer))}</select>
${
  sizes.length > 1 &&
  html`<label for="resize">${t("viewer.size")}</label><select id="resize" name="resize">${sizes.map(
    ({ label, side }) => html`<option value="${side !== null && `${side}x${side}`}">${label}</option>`,
  )}</select>`
}
<button>${t("viewer.download")}</button></form>`;
}

/** The value is what follows the dot in the address of the file. */
function formatOptions(view: ImageView, { format, name, address, isOriginal }: Offer): Html[] {
  // The original is the whole document; other formats have only the shown page.
  const shown = isOriginal ? address : pageAddress(view, address);
  const option = ({ href }: Address, label: string) =>
    html`<option value="${format}${new URL(href).search}">${label}</option>`;
  if (format !== "jpg") return [option(shown, isOriginal ? t("viewer.original", { format: name }) : name)];
  const qualities = QUALITIES.map((quality) =>
    option(changedAddress(view, shown, "convert", quality), t(`viewer.${quality}`, { format: name })),
  );
  return isOriginal ? [option(shown, t("viewer.original", { format: name })), ...qualities] : qualities;
}
