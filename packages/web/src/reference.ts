import type { Page, PlacedView } from "@outrigger/core";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, sourceList } from "./document.ts";
import { html } from "./html.ts";

/** The API for people to read. */
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
<noscript><p>This page needs JavaScript. The same for programs: <a href="${description}">openapi.json</a> (OpenAPI 3.1).</p></noscript>`,
    policy: {
      "connect-src": "'self'",
      // Pictures that a request which is tried out is answered by.
      "img-src": "'self' blob: data:",
      // OpenAPI Explorer writes its theme and widths into <style> elements and style attributes, which depend on what it shows and
      // on the window, so that no hash can name them. A style can do little here: the page shows nothing that users sent.
      "style-src": `${sourceList(base === null ? [] : [base])} 'unsafe-inline'`,
    },
  });
}
