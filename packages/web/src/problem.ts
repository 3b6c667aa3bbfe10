import type { Page, ProblemView } from "@outrigger/core";
import { absoluteAddress } from "./addresses.ts";
import { documentPage } from "./document.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { waitText, withDates } from "./phrases.ts";

/** What happened, and what can be done about it, in the words of everyday. */
const SAID: ReadonlyMap<number, readonly [headline: string, advice: string]> = new Map([
  [202, ["Almost there", ""]],
  [400, ["That did not make sense to us", "Go back, and try it another way."]],
  [403, ["You may not see this", ""]],
  [
    404,
    [
      "There is nothing here",
      "Look whether the address is whole: it may have been cut short when it was copied.",
    ],
  ],
  [410, ["This image is gone", "If you need it, ask whoever sent you the address to upload it again."]],
  [429, ["That was too fast", ""]],
  [451, ["This image is withheld", ""]],
  [500, ["Something went wrong", "It is not your fault. Try again later."]],
  [503, ["Not now", ""]],
]);

const DELETED = ["The image is deleted", "Nobody can open it any more, in any format."] as const;

/** The page that tells a person why there is nothing to see. */
export function problemPage(view: ProblemView, productName: string): Page {
  const { baseUrl, status, title, detail, justDeleted } = view;
  const [headline, advice] = justDeleted === true ? DELETED : (SAID.get(status) ?? [title, ""]);
  const base = absoluteAddress(baseUrl);
  const isPending = status === 202;
  return documentPage({
    title: headline,
    productName,
    baseUrl,
    layout: "problem",
    entry: "viewer",
    main: html`<div class="${isPending ? "card pending" : "card"}">
<h1>${headline}</h1>
${isPending && html`<div class="bar" aria-hidden="true"></div>`}
${detail !== "" && html`<p>${withDates(detail)}</p>`}
${advice !== "" && html`<p>${advice}</p>`}
${authorityLine(view)}${waitLine(view)}
${base !== null && html`<p class="actions"><a class="pill original" href="${base.href.replace(/\/$/, "")}/">Upload an image</a></p>`}
</div>
<p class="status">${status} ${title}</p>`,
    // Of a page that waits: for the picture that it waits for, and for asking.
    ...(isPending ? { pictures: base === null ? [] : [base], policy: { "connect-src": "'self'" } } : {}),
  });
}

function authorityLine({ authority }: ProblemView): HtmlValue {
  const address = authority === undefined ? null : absoluteAddress(authority);
  return (
    address !== null && html`<p><a href="${address.href}" rel="nofollow">Who asked for it, and why</a></p>`
  );
}

function waitLine({ status, retryAfterSeconds }: ProblemView): Html | null {
  if (retryAfterSeconds === undefined || status === 202) return null;
  return html`<p>Try again in ${waitText(retryAfterSeconds)}.</p>`;
}
