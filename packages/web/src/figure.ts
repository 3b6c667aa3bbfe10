import type { ImageView } from "@outrigger/core/images";
import { type Address, withParameter } from "./addresses.ts";
import { type Offer, shortTypeName } from "./formats.ts";
import { type Html, html } from "./html.ts";
import { isTall, type ShownPicture, type Size, shownPicture } from "./renditions.ts";
import { t } from "./texts.ts";

/** With more pages than this, the page has a field to go to a page by number. */
const MAX_PAGES_TO_LEAF = 3;

/** The picture scaled to fit, with a link to its full size, and controls to turn the pages of a document. */
export function figure(view: ImageView, offers: readonly Offer[], address: Address | null): Html {
  const shown = shownPicture(view, offers);
  return html`<figure>${shown === null ? placeholder(view, offers) : pictureMarkup(view, shown)}
${address !== null && pageCount(view) > 1 && pageTurner(view, address)}${
  shown?.isBounded === true &&
  html`<figcaption>${t("viewer.scaled")} <a href="${shown.full.href}">${t("viewer.fullSize")}</a></figcaption>`
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

function placeholder({ type }: ImageView, [offer]: readonly Offer[]): Html {
  const text = html`<b>${shortTypeName(type)}</b> ${t("viewer.preview")}`;
  if (offer === undefined) return html`<p class="placeholder">${text}</p>`;
  return html`<a class="placeholder" href="${offer.address.href}">${text}</a>`;
}

function pictureMarkup(
  view: ImageView,
  { address, sources, full, size, isOpaque, still }: ShownPicture,
): Html {
  const text = view.description ?? view.name;
  const alt = view.page === 1 ? text : t("viewer.altOfPage", { name: text, page: view.page });
  const srcset = sources.map((source) => `${source.address.href} ${source.width}w`).join(", ");
  const looks = ["stage", !isOpaque && "see-through", isTall(size) && "tall"].filter(Boolean).join(" ");
  const source =
    still !== null && html`<source media="(prefers-reduced-motion: reduce)" srcset="${still.href}">`;
  return html`<a class="${looks}" href="${full.href}"><picture>${source}<img
src="${address.href}" alt="${alt}"${srcset !== "" && html` srcset="${srcset}" sizes="${widthOf(size)}"`}${
    size !== null && html` width="${size.width}" height="${size.height}"`
  }></picture></a>`;
}

/** The width that the page has for a picture, as in the style sheet. */
function widthOf(size: Size | null): string {
  if (size === null || isTall(size)) return "100vw";
  return `min(100vw, 86rem, (100vh - 13rem) * ${(size.width / size.height).toFixed(3)})`;
}

/** Controls to turn the pages of a document: links, and a form to go to a page by number. */
function pageTurner(view: ImageView, address: Address): Html {
  const { page } = view;
  const pages = pageCount(view);
  return html`<nav class="turner" aria-label="${t("viewer.pages")}">
${turnLink("prev", `‹ ${t("viewer.previous")}`, page > 1 && addressOfPage(address, page - 1))}
${
  pages > MAX_PAGES_TO_LEAF
    ? html`<form action="${address.href}"><label for="page">${t("viewer.page")}</label>
<input id="page" name="page" type="number" min="1" max="${pages}" required value="${page}" autocomplete="off"> ${t("viewer.ofPages", { pages })}
<button class="plain">${t("viewer.go")}</button></form>`
    : html`<span>${t("viewer.pageOf", { page, pages })}</span>`
}
${turnLink("next", `${t("viewer.next")} ›`, page < pages && addressOfPage(address, page + 1))}
</nav>`;
}

/**
 * A link to the previous or next page. Without such a page its place stays empty, so that the other link does not move.
 */
function turnLink(rel: "prev" | "next", label: string, to: Address | false): Html {
  if (to === false) return html`<span class="button plain off" aria-hidden="true">${label}</span>`;
  return html`<a class="button plain" rel="${rel}" href="${to.href}">${label}</a>`;
}
