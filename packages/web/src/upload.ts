import type { Page, UploadView } from "@outrigger/core";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, sourceList } from "./document.ts";
import { html } from "./html.ts";

/** The page for uploading; `browser/upload` puts into it what moves. */
export function uploadPage(view: UploadView, productName: string): Page {
  const { baseUrl, maxUploadBytes, defaultLifetimeMs, maxLifetimeMs } = view;
  const base = absoluteAddress(baseUrl);
  const sources = sourceList(base === null ? [] : [base]);
  return documentPage({
    title: "Upload images",
    productName,
    baseUrl,
    layout: "upload",
    entry: "upload",
    main: html`<nav aria-label="For programs">
<a href="${baseUrl}/api">API</a>
<a href="${baseUrl}/sharex.sxcu">ShareX</a>
</nav>
<h1>Upload images</h1>
<p class="lead">Each gets a link to share, and deletes itself in time.</p>
<noscript>
<p class="banner alarm">Uploading here needs JavaScript. Without it, this does the same in a terminal, and prints the link:</p>
<p><code>curl -F imagedata=@picture.png ${baseUrl}/api/images.txt</code></p>
</noscript>
<div id="upload" data-base="${baseUrl}" data-max-upload-bytes="${maxUploadBytes}"
 data-default-lifetime-ms="${defaultLifetimeMs}" data-max-lifetime-ms="${maxLifetimeMs}"><div class="drop-area"></div></div>`,
    policy: {
      "connect-src": sources,
      // Pictures of files that are not uploaded yet are addressed by `blob:`.
      "img-src": `${sources} blob:`,
    },
  });
}
