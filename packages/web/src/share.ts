import type { ImageView } from "@outrigger/core/images";
import type { Address } from "./addresses.ts";
import type { Offer } from "./formats.ts";
import { type Html, html, markupOf } from "./html.ts";
import { displayableOffer, pageAddress } from "./renditions.ts";

/** Addresses and snippets to copy. The page's script adds a copy button to each row. */
export function shareSection(
  view: ImageView,
  address: Address | null,
  offers: readonly Offer[],
): Html | null {
  if (address === null && offers.length === 0) return null;
  const embedded = displayableOffer(view, offers);
  const [first, ...others] = offers;
  return html`<section aria-labelledby="addresses"><h2 id="addresses">Share</h2>
${address !== null && field("address-page", "Page link", address.href)}
${first !== undefined && offerField(view, first)}
${address !== null && embedded !== null && snippetFields(view, address, pageAddress(view, embedded.address))}
${others.length > 0 && html`<details><summary>Other formats</summary>${others.map((offer) => offerField(view, offer))}</details>`}
</section>`;
}

/** Markdown and HTML that embed the picture and link it to this page. */
function snippetFields({ name, description }: ImageView, page: Address, picture: Address): Html {
  const alt = description ?? name;
  const markdown = `[![${escapeMarkdown(alt)}](${bare(picture)})](${bare(page)})`;
  const markup = markupOf(html`<a href="${page.href}"><img src="${picture.href}" alt="${alt}"></a>`);
  return html`${field("address-markdown", "Markdown", markdown)}${field("address-html", "HTML", markup)}`;
}

function offerField(view: ImageView, { format, name, address, isOriginal }: Offer): Html {
  // The original is the whole document; other formats have only the shown page.
  return isOriginal
    ? field(`address-${format}`, `Original file (${name})`, address.href)
    : field(`address-${format}`, name, pageAddress(view, address).href);
}

function field(id: string, label: string, value: string): Html {
  return html`<label for="${id}">${label}</label><div class="copy-row"><input id="${id}" class="address" dir="ltr" readonly value="${value}"></div>\n`;
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>]/g, "\\$&");
}

/** Encodes brackets, which would end an address in Markdown. */
function bare({ href }: Address): string {
  return href.replaceAll("(", "%28").replaceAll(")", "%29");
}
