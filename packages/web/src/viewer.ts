import type { ImageView, Page, Quality } from "@outrigger/core";
import { type Address, absoluteAddress, withParameter } from "./addresses.ts";
import { documentPage } from "./document.ts";
import { displayedOffer, type Offer, offersOf, rasterOffer, shortTypeName } from "./formats.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { dateMarkup, dimensionsText, sizeText, timeLeftText, typeName } from "./phrases.ts";

const QUALITIES: readonly Quality[] = ["low", "medium", "high", "max"];

/** The page for looking at an image. */
export function viewerPage(view: ImageView, nowMs: number, productName: string): Page {
  const offers = offersOf(view);
  const displayed = displayedOffer(offers);
  const address = absoluteAddress(view.viewUrl);
  return documentPage({
    title: view.name,
    productName,
    layout: "viewer",
    head: previewTags(view, address, rasterOffer(offers), productName),
    main: html`<h1 dir="auto">${view.name}</h1>
<figure>${pictureMarkup(view, displayed)}</figure>
<div class="panel">
${factsSection(view, nowMs)}
${offers.length > 0 && downloadsSection(offers)}
${addressesSection(address, offers)}
</div>`,
    pictures: displayed === null ? [] : [displayed.address],
  });
}

/** The picture at the size that fits, leading to it at full size; a placeholder where no browser can show it. */
export function pictureMarkup(view: ImageView, displayed: Offer | null): Html {
  if (displayed === null) {
    return html`<p class="placeholder"><b>${shortTypeName(view.type)}</b> No preview of this file</p>`;
  }
  const isOpaque = displayed.format === "jpg" || view.type === "application/pdf";
  const size =
    view.width !== null && view.height !== null && html` width="${view.width}" height="${view.height}"`;
  const caption =
    view.type === "application/pdf" &&
    (view.pages ?? 1) > 1 &&
    html`<figcaption>Page 1 of ${view.pages}</figcaption>`;
  return html`<a class="${isOpaque ? "stage" : "stage see-through"}" href="${displayed.address.href}"><img
src="${displayed.address.href}" alt="${view.name}"${size}></a>${caption}`;
}

function factsSection(view: ImageView, nowMs: number): Html {
  const agent = view.agent;
  const counted = view.type === "image/gif" ? "Frames" : "Pages";
  const left = timeLeftText(view.expiresAt, nowMs);
  return html`<section aria-labelledby="facts"><h2 id="facts">About</h2>
<dl>
${fact("Dimensions", dimensionsText(view))}
${fact(counted, (view.pages ?? 1) > 1 && view.pages)}
${fact("Size", sizeText(view.size))}
${fact("Type", typeName(view.type))}
${fact("Uploaded", dateMarkup(view.createdAt))}
${fact("Uploaded with", agent !== null && (agent.version === null ? agent.name : `${agent.name} ${agent.version}`))}
${fact("Expires", html`${left !== null && html`<b>${left}</b><br>`}${dateMarkup(view.expiresAt)}`)}
</dl></section>`;
}

function fact(term: string, value: HtmlValue): HtmlValue {
  if (value === null || value === undefined || value === false) return null;
  return html`<div><dt>${term}</dt><dd>${value}</dd></div>`;
}

function downloadsSection(offers: readonly Offer[]): Html {
  return html`<section aria-labelledby="downloads"><h2 id="downloads">Download</h2>
<ul class="downloads">
${offers.map(downloadItems)}</ul></section>`;
}

function downloadItems({ format, name, address, isOriginal }: Offer): Html {
  const look = isOriginal ? "pill original" : "pill";
  const whole = html`<li><a class="${look}" href="${address.href}" download>${name}${isOriginal && " original"}</a></li>\n`;
  if (format !== "jpg") return whole;
  const qualities = QUALITIES.map((quality) => {
    const href = withParameter(address, "convert", quality);
    return html`<a href="${href}" download><span class="unseen">JPEG, </span>${quality}<span class="unseen"> quality</span></a>`;
  });
  return html`${isOriginal && whole}<li class="qualities"><span aria-hidden="true">${name}</span>${qualities}</li>\n`;
}

function addressesSection(view: Address | null, offers: readonly Offer[]): Html | null {
  if (view === null && offers.length === 0) return null;
  const [first, ...others] = offers;
  return html`<section aria-labelledby="addresses"><h2 id="addresses">Addresses</h2>
${view !== null && addressField("address-page", "This page", view)}
${first !== undefined && offerField(first)}
${others.length > 0 && html`<details><summary>Other formats</summary>${others.map(offerField)}</details>`}
</section>`;
}

function offerField({ format, name, address, isOriginal }: Offer): Html {
  return addressField(`address-${format}`, isOriginal ? `Original file (${name})` : name, address);
}

function addressField(id: string, label: string, { href }: Address): Html {
  return html`<label for="${id}">${label}</label><input id="${id}" class="address" readonly value="${href}">\n`;
}

/** Open Graph and card metadata, so that a shared address shows the picture. */
function previewTags(
  view: ImageView,
  address: Address | null,
  raster: Offer | null,
  productName: string,
): Html {
  const description = [typeName(view.type), dimensionsText(view), sizeText(view.size)]
    .filter(Boolean)
    .join(", ");
  return html`<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${productName}">
<meta property="og:title" content="${view.name}">
<meta property="og:description" content="${description}">
${
  address !== null &&
  html`<meta property="og:url" content="${address.href}">
<link rel="canonical" href="${address.href}">`
}
${raster === null ? html`<meta name="twitter:card" content="summary">` : pictureTags(view, raster)}
<meta name="twitter:title" content="${view.name}">
<meta name="twitter:description" content="${description}">`;
}

function pictureTags(view: ImageView, { address }: Offer): Html {
  return html`<meta property="og:image" content="${address.href}">
<meta property="og:image:alt" content="${view.name}">
${
  view.width !== null &&
  view.height !== null &&
  html`<meta property="og:image:width" content="${view.width}">
<meta property="og:image:height" content="${view.height}">`
}
<meta name="twitter:card" content="summary_large_image">
<meta name="twitter:image" content="${address.href}">
<meta name="twitter:image:alt" content="${view.name}">`;
}
