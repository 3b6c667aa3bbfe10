import type { ImageView } from "@outrigger/core/images";
import { type Address, withParameter } from "./addresses.ts";
import { type Offer, shortTypeName } from "./formats.ts";
import { type Html, html } from "./html.ts";
import { lookOf } from "./look.ts";
import { dimensionsText, sizeText } from "./phrases.ts";
import { isTall, type ShownPicture, shownPicture } from "./renditions.ts";

/** Width that the page has for the picture, as in the style sheet. */
const SIZES = "(min-width: 60rem) calc(100vw - 28rem), 100vw";
/** With more pages than this, the page has a field to go to a page by number. */
const MAX_PAGES_TO_LEAF = 3;

/** The picture scaled to fit, with a link to its full size, and controls to turn the pages of a document. */
export function figure(view: ImageView, offers: readonly Offer[], address: Address | null): Html {
  const shown = shownPicture(view, offers);
  return html`<figure>${shown === null ? placeholder(view) : pictureMarkup(view, shown)}
${address !== null && pageCount(view) > 1 && pageTurner(view, address)}${
  shown?.isBounded === true &&
  html`<figcaption>Scaled to fit. <a href="${shown.full.href}">View full size</a>
(${[view.page > 1 && `page ${view.page}`, dimensionsText(view), view.page === 1 && sizeText(view.size)].filter(Boolean).join(", ")})</figcaption>`
}
</figure>`;
}

/** Number of pages of a document. Frames of an animation do not count. */
export function pageCount({ type, pages }: ImageView): number {
  return type === "application/pdf" ? (pages ?? 1) : 1;
}

/** The viewer's address for a page of a document. */
export function addressOfPage(address: Address, page: number): Address {
  return page === 1 ? address : { ...address, href: withParameter(address, "page", String(page)) };
}

function placeholder({ type }: ImageView): Html {
  return html`<p class="placeholder"><b>${shortTypeName(type)}</b> No preview available</p>`;
}

function pictureMarkup(
  view: ImageView,
  { address, sources, full, size, isOpaque, still }: ShownPicture,
): Html {
  const alt = view.page === 1 ? view.name : `${view.name}, page ${view.page}`;
  const srcset = sources.map((source) => `${source.address.href} ${source.width}w`).join(", ");
  const looks = ["stage", !isOpaque && "see-through", isTall(size) && "tall"].filter(Boolean).join(" ");
  const source =
    still !== null && html`<source media="(prefers-reduced-motion: reduce)" srcset="${still.href}">`;
  return html`<a class="${looks}" href="${full.href}"><picture>${source}<img
src="${address.href}" alt="${alt}"${srcset !== "" && html` srcset="${srcset}" sizes="${SIZES}"`}${
    size !== null && html` width="${size.width}" height="${size.height}"`
  }></picture>${size !== null && lookOf(view, size)}</a>`;
}

/** Controls to turn the pages of a document: links, and a form to go to a page by number. */
function pageTurner(view: ImageView, address: Address): Html {
  const { page } = view;
  const pages = pageCount(view);
  return html`<nav class="turner" aria-label="Pages">
${turnLink("prev", "‹ Previous", page > 1 && addressOfPage(address, page - 1))}
${
  pages > MAX_PAGES_TO_LEAF
    ? html`<form action="${address.href}"><label for="page">Page</label>
<input id="page" name="page" type="number" min="1" max="${pages}" required value="${page}" autocomplete="off"> of ${pages}
<button>Go</button></form>`
    : html`<span>Page ${page} of ${pages}</span>`
}
${turnLink("next", "Next ›", page < pages && addressOfPage(address, page + 1))}
</nav>`;
}

/**
 * A link to the previous or next page. Without such a page its place stays empty, so that the other link does not move.
 */
function turnLink(rel: "prev" | "next", label: string, to: Address | false): Html {
  if (to === false) return html`<span class="pill off" aria-hidden="true">${label}</span>`;
  return html`<a class="pill" rel="${rel}" href="${to.href}">${label}</a>`;
}
