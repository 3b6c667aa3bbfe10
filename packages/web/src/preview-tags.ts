import type { ImageView } from "@outrigger/core/images";
import { type Address, absoluteAddress } from "./addresses.ts";
import type { Offer } from "./formats.ts";
import { type Html, html } from "./html.ts";
import { dimensionsText, sizeText, typeName } from "./phrases.ts";
import { previewPicture } from "./renditions.ts";

/** Open Graph and Twitter card metadata, so that a shared link shows the picture. */
export function previewTags(
  view: ImageView,
  address: Address | null,
  offers: readonly Offer[],
  productName: string,
): Html {
  const base = absoluteAddress(view.baseUrl);
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
${address !== null && base !== null && html`<link rel="alternate" type="application/json+oembed" title="${view.name}" href="${base.href}/api/oembed.json?url=${encodeURIComponent(address.href)}">`}
${pictureTags(view, offers)}
<meta name="twitter:title" content="${view.name}">
<meta name="twitter:description" content="${description}">`;
}

function pictureTags(view: ImageView, offers: readonly Offer[]): Html {
  const picture = previewPicture(view, offers);
  if (picture === null) return html`<meta name="twitter:card" content="summary">`;
  const { address, size } = picture;
  const alt = view.description ?? view.name;
  return html`<meta property="og:image" content="${address.href}">
<meta property="og:image:alt" content="${alt}">
${
  size !== null &&
  html`<meta property="og:image:width" content="${size.width}">
<meta property="og:image:height" content="${size.height}">`
}
<meta name="twitter:card" content="summary_large_image">
<meta name="twitter:image" content="${address.href}">
<meta name="twitter:image:alt" content="${alt}">`;
}
