import type { ImageView, Page, Quality } from "@outrigger/core/images";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, type Site } from "./document.ts";
import { addressOfPage, figure } from "./figure.ts";
import { type Offer, offersOf } from "./formats.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { agentText, dateMarkup, dimensionsText, lossText, sizeText, typeName } from "./phrases.ts";
import { previewTags } from "./preview-tags.ts";
import { changedAddress, pageAddress } from "./renditions.ts";
import { reportLine } from "./report.ts";
import { shareSection } from "./share.ts";
import { timeLeftText } from "./time-left.ts";

const QUALITIES: readonly Quality[] = ["low", "medium", "high", "max"];
/** Longest side that the service renders, pixels. */
const MAX_SIDE = 8192;

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
    nowMs,
    head: previewTags(view, address, offers, site.productName),
    main: html`<h1 dir="auto" data-id="${view.id}" data-base="${view.baseUrl}">${view.name}</h1>
${figure(view, offers, viewer)}
<div class="panel">
${factsSection(view, nowMs)}
${shareSection(view, address, offers)}
${offers.length > 0 && downloadsSection(view, offers)}
${reportLine(view.reportUrl)}</div>`,
    pictures: offers.map((offer) => offer.address),
    forms: viewer === null ? [] : [viewer],
    // To ask whether the image has expired.
    policy: { "connect-src": "'self'" },
  });
}

function factsSection(view: ImageView, nowMs: number): Html {
  const agent = view.agent;
  const counted = view.type === "application/pdf" ? "Pages" : "Frames";
  return html`<section aria-labelledby="facts"><h2 id="facts">About</h2>
<dl>
${fact(view.type === "application/pdf" ? "Page size" : "Dimensions", dimensionsText(view))}
${fact(counted, (view.pages ?? 1) > 1 && view.pages)}
${fact("Size", sizeText(view.size))}
${fact("Type", typeName(view.type))}
${fact("Not kept", lossText(view.warnings))}
${fact("Content Credentials", view.provenance && "in the uploaded file")}
${fact("Uploaded", dateMarkup(view.createdAt))}
${fact("Uploaded with", agent !== null && agentText(agent))}
${fact("Expires", view.expiresAt === null ? "Never" : html`${timeLeft(view.expiresAt, nowMs)}${dateMarkup(view.expiresAt)}`)}
</dl></section>`;
}

/** The page's script counts it down. */
function timeLeft(expiresAt: string, nowMs: number): HtmlValue {
  const left = timeLeftText(expiresAt, nowMs);
  return left !== null && html`<b class="left" data-until="${expiresAt}">${left}</b><br>`;
}

function fact(term: string, value: HtmlValue): HtmlValue {
  if (value === null || value === undefined || value === false) return null;
  return html`<div><dt>${term}</dt><dd>${value}</dd></div>`;
}

function downloadsSection(view: ImageView, offers: readonly Offer[]): Html {
  return html`<section aria-labelledby="downloads"><h2 id="downloads">Download${view.page > 1 && html` <small>page ${view.page}</small>`}</h2>
<ul class="downloads"${downloadData(view)}>
${offers.map((offer) => downloadItems(view, offer))}</ul></section>`;
}

/** For the script: the width of a picture whose width can be chosen, and the largest one. */
function downloadData({ type, width, sign }: ImageView): HtmlValue {
  // The page signs only its own links.
  if (sign !== undefined || width === null || width > MAX_SIDE) return null;
  // Drawings and pages are drawn at any size; other pictures are never enlarged.
  const isScalable = type === "image/svg+xml" || type === "application/pdf";
  return html` data-width="${width}" data-max-width="${isScalable ? MAX_SIDE : width}"`;
}

function downloadItems(view: ImageView, { format, name, address, isOriginal }: Offer): Html {
  const look = isOriginal ? "button original" : "button plain";
  // The original is the whole document; other formats have only the shown page.
  const shown = isOriginal ? address : pageAddress(view, address);
  const whole = html`<li><a class="${look}" href="${shown.href}" download>${name}${isOriginal && " original"}</a></li>\n`;
  if (format !== "jpg") return whole;
  const qualities = QUALITIES.map((quality) => {
    const { href } = changedAddress(view, shown, "convert", quality);
    return html`<a href="${href}" download><span class="unseen">JPEG, </span>${quality}<span class="unseen"> quality</span></a>`;
  });
  return html`${isOriginal && whole}<li class="qualities"><span aria-hidden="true">${name}</span>${qualities}</li>\n`;
}
