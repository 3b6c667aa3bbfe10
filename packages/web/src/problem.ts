import type { Page, ProblemView } from "@outrigger/core";
import { documentPage } from "./document.ts";
import { html } from "./html.ts";

/** The page that tells a person why there is nothing to see. */
export function problemPage({ status, title, detail }: ProblemView, productName: string): Page {
  return documentPage({
    title: `${status} ${title}`,
    productName,
    layout: "problem",
    main: html`<p class="status">${status}</p>
<h1>${title}</h1>
${detail !== "" && html`<p>${detail}</p>`}`,
  });
}
