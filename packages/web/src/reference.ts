import type { Page, PlacedView } from "@outrigger/core/images";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, sourceList } from "./document.ts";
import { html } from "./html.ts";

/** The API reference page. */
export function referencePage({ baseUrl }: PlacedView, productName: string): Page {
  const base = absoluteAddress(baseUrl);
  const description = `${baseUrl.replace(/\/$/, "")}/api/openapi.json`;
  return documentPage({
    title: "API",
    productName,
    baseUrl,
    layout: "reference",
    entry: "reference",
    main: html`<h1>API</h1>
<noscript><p>Turn on JavaScript to read this page. For developers: <a href="${description}">openapi.json</a> (OpenAPI 3.1).</p></noscript>`,
    policy: {
      "connect-src": "'self'",
      // Pictures in the replies of requests that the reader tries out.
      "img-src": "'self' blob: data:",
      // OpenAPI Explorer writes its theme and widths into <style> elements and style attributes. They depend on the
      // content and the window, so no hash can name them. The risk is small: the page shows nothing that users sent.
      "style-src": `${sourceList(base === null ? [] : [base])} 'unsafe-inline'`,
    },
  });
}
