import type { Page, UploadView } from "@outrigger/core";
import { absoluteAddress, pathSource } from "./addresses.ts";
import { assetAddress, documentPage, sourceList } from "./document.ts";
import { html } from "./html.ts";
import { lifetimeMs } from "./time-left.ts";
import { refusalBanner, uploadForm } from "./upload-form.ts";

/** Pixels of the side of the square that the page offers of each picture. */
const SQUARE_SIDE = 256;

/**
 * The upload page. `browser/upload` adds its interactive parts.
 *
 * @param manifestName Name of the asset that makes the page an installable app.
 */
export function uploadPage(view: UploadView, nowMs: number, productName: string, manifestName: string): Page {
  const { baseUrl, maxUploadBytes, defaultLifetimeMs, maxLifetimeMs, form, refusal } = view;
  const square = squareSide(view);
  const base = absoluteAddress(baseUrl);
  const sources = sourceList(base === null ? [] : [base]);
  const manifest = assetAddress(baseUrl, manifestName);
  const action = absoluteAddress(form?.action ?? "");
  return documentPage({
    title: "Upload images",
    productName,
    baseUrl,
    layout: "upload",
    entry: "upload",
    nowMs,
    head: manifest !== null && html`<link rel="manifest" href="${manifest.href}">`,
    main: html`${
      base !== null &&
      html`<nav aria-label="For developers">
<a href="${base.href}/api">API</a>
<a href="${base.href}/sharex.sxcu">ShareX</a>
</nav>`
    }
<h1>Upload images</h1>
<p class="lead">Get a link to share.${defaultLifetimeMs !== null && " Images are deleted automatically."}</p>
${refusal !== undefined && refusalBanner(refusal, maxUploadBytes)}
<noscript>
${
  form !== undefined && action !== null
    ? uploadForm(view, form, action)
    : html`<p class="banner alarm">Turn on JavaScript to upload here, or run this command:</p>
<p><code>curl -F imagedata=@picture.png ${baseUrl}/api/images.txt</code></p>`
}
</noscript>
<div id="upload" data-base="${baseUrl}" data-max-upload-bytes="${maxUploadBytes}"
 data-default-lifetime-ms="${lifetimeMs(defaultLifetimeMs)}" data-max-lifetime-ms="${lifetimeMs(maxLifetimeMs)}"${
   square !== null && html` data-square-side="${square}"`
 }><div class="drop-area"></div></div>`,
    policy: {
      "connect-src": sources,
      ...(manifest === null ? {} : { "manifest-src": sources }),
      // The exact script: workers of the host app must not run for this page.
      "worker-src": (base !== null && pathSource(`${baseUrl}/share-target`)) || "'none'",
      // Previews of files that are not uploaded yet have `blob:` addresses.
      "img-src": `${sources} blob:`,
      ...(action === null ? {} : { "form-action": pathSource(action.href) ?? sourceList([action]) }),
    },
  });
}

/** Pixels of the square that the service cuts for an address without a signature; `null`: none. */
function squareSide({ sizes }: UploadView): number | null {
  if (typeof sizes === "string") return sizes === "any" ? SQUARE_SIDE : null;
  return sizes.find((step) => step >= SQUARE_SIDE) ?? sizes.at(-1) ?? null;
}
