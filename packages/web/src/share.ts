import type { ImageView } from "@outrigger/core/images";
import type { Address } from "./addresses.ts";
import type { Offer } from "./formats.ts";
import { escapeHtml, type Html, type HtmlValue, html } from "./html.ts";
import { boxed, displayableOffer, pageAddress, sizeChoices } from "./renditions.ts";
import { t } from "./texts.ts";

/** Posts and messages are narrower than larger sizes. */
const MAX_EMBEDDED_SIDE = 800;

/** The page's link, and codes that embed the picture in each size. The page's script adds copy buttons, the style sheet shows one size. */
export function sharePane(view: ImageView, page: Address | null, offers: readonly Offer[]): HtmlValue {
  const shown = displayableOffer(view, offers);
  const offer = shown ?? offers[0];
  const text = (shown === null ? null : view.description) ?? view.name;
  const file = offer && pageAddress(view, offer.address);
  const sizes =
    shown === null || shown.format === "svg"
      ? []
      : sizeChoices(view).filter(({ side }) => (side ?? 0) <= MAX_EMBEDDED_SIDE);
  const codes = ({ side }: { side: number | null }, index: number) => {
    if (file === undefined || page === null) return null;
    const { href } = side === null ? file : boxed(view, file, side);
    const texts = shareTexts({ file: href, page: page.href, text, isPicture: shown !== null });
    return html`<div class="codes-${index}">${texts.map(([what, value]) => field(`code-${index}-${what.slice(0, 2)}`, what, value))}</div>\n`;
  };
  return html`${page !== null && field("page-link", t("viewer.pageLink"), page.href)}
<div class="embed">${
    sizes.length > 1 &&
    html`<label for="embed-size">${t("viewer.embedSize")}</label><select id="embed-size" autocomplete="off">${sizes.map(
      ({ label }, index) => html`<option value="${index}">${label}</option>`,
    )}</select>`
  }
${(sizes.length > 1 ? sizes : [{ side: null }]).map(codes)}</div>`;
}

function field(id: string, label: string, value: string): Html {
  return html`<label for="${id}">${label}</label><div class="copy-row"><input id="${id}" class="address" dir="ltr" readonly value="${value}"></div>\n`;
}

/** A file to link to or to embed. */
export interface SharedFile {
  /** Address of the file. */
  file: string;
  /** Address of the page that shows the image. */
  page: string;
  /** Alternative text of a picture; name of any other file. */
  text: string;
  /** Whether browsers show the file as a picture. */
  isPicture: boolean;
}

/** The texts to copy by their names: a picture linked to its page, or a link to a file that browsers do not show. */
export function shareTexts({ file, page, text, isPicture }: SharedFile): (readonly [string, string])[] {
  const [plainFile, plainPage] = [bare(file), bare(page)];
  const words = text.replace(/[\\`*_[\]<>!]/g, "\\$&");
  const [label, markup] = [escapeHtml(text), escapeHtml(file)];
  // BBCode has no alternative text, and no way to escape brackets.
  return isPicture
    ? [
        [t("share.directLink"), file],
        ["Markdown", `[![${words}](${plainFile})](${plainPage})`],
        ["HTML", `<a href="${escapeHtml(page)}"><img src="${markup}" alt="${label}"></a>`],
        ["BBCode", `[url=${page}][img]${file}[/img][/url]`],
      ]
    : [
        [t("share.directLink"), file],
        ["Markdown", `[${words}](${plainFile})`],
        ["HTML", `<a href="${markup}">${label}</a>`],
        ["BBCode", `[url]${file}[/url]`],
      ];
}

/** Encodes brackets, which would end an address in Markdown. */
function bare(address: string): string {
  return address.replaceAll("(", "%28").replaceAll(")", "%29");
}
