import type { Page, UploadView } from "@outrigger/core/images";
import { absoluteAddress, pathSource } from "./addresses.ts";
import { documentPage, type Site, sourceList } from "./document.ts";
import { html } from "./html.ts";
import { t } from "./texts.ts";
import { lifetimeMs } from "./time-left.ts";
import { refusalBanner, uploadForm } from "./upload-form.ts";

/** The upload page. `browser/upload` replaces its form, which works without a script. */
export function uploadPage(view: UploadView, nowMs: number, site: Site): Page {
  const { baseUrl, types, maxUploadBytes, defaultLifetimeMs, maxLifetimeMs, resumable, form, refusal } = view;
  const base = absoluteAddress(baseUrl);
  const sources = sourceList(base === null ? [] : [base]);
  const action = absoluteAddress(form?.action ?? "");
  return documentPage({
    title: t("upload.title"),
    ...site,
    baseUrl,
    layout: "upload",
    entry: "upload",
    nowMs,
    head: html`<meta name="description" content="${t("upload.summary")}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${site.productName}">
<meta property="og:title" content="${t("upload.title")}">
<meta property="og:description" content="${t("upload.summary")}">`,
    main: html`<h1>${t("upload.title")}</h1>
<p class="lead">${t(defaultLifetimeMs === null ? "upload.lead" : "upload.leadOfExpiring")}</p>
${refusal !== undefined && refusalBanner(refusal, maxUploadBytes)}
<div id="upload" data-base="${baseUrl}" data-types="${types.join(" ")}" data-max-upload-bytes="${maxUploadBytes}"
 data-default-lifetime-ms="${lifetimeMs(defaultLifetimeMs)}" data-max-lifetime-ms="${lifetimeMs(maxLifetimeMs)}"${resumable === true && " data-resumable"}>
<div class="unscripted">
${
  form !== undefined && action !== null
    ? uploadForm(view, form, action)
    : html`<p class="banner alarm">${t("upload.scriptNeeded")}</p>
<p><code>curl -F imagedata=@picture.png ${baseUrl}/api/images.txt</code></p>`
}
</div>
</div>`,
    policy: {
      "connect-src": sources,
      // Previews of files that are not uploaded yet have `blob:` addresses.
      "img-src": `${sources} blob:`,
      ...(action === null ? {} : { "form-action": pathSource(action.href) ?? sourceList([action]) }),
    },
  });
}
