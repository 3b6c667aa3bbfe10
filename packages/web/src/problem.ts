import type { Page, ProblemView } from "@outrigger/core/images";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, type Site } from "./document.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { waitText, withDates } from "./phrases.ts";

const LATER = "Try again later.";
/** The service's text of an unexpected failure. */
const UNEXPECTED = "Something unexpected went wrong.";

const PROCESSING_TITLE = "Processing";

/** The headline of each status, and what the reader can do. */
const SAID: ReadonlyMap<number, readonly [headline: string, advice: string]> = new Map([
  [202, ["Processing image", ""]],
  [400, ["Bad request", "Check the address and try again."]],
  [403, ["You don’t have access", ""]],
  [404, ["Page not found", "Check that you copied the whole link."]],
  [405, ["This address can’t do that", ""]],
  [408, ["The request took too long", "Check your connection and try again."]],
  [409, ["The image has changed", "Open the page again, then retry."]],
  [410, ["This image is no longer available", "Ask the person who shared it to upload it again."]],
  [413, ["Too much data", ""]],
  [415, ["This content isn’t supported", ""]],
  [429, ["Too many requests", ""]],
  [451, ["This image is unavailable for legal reasons", ""]],
  [500, ["Something went wrong on our side", LATER]],
  [501, ["Not available on this server", ""]],
  [503, ["Temporarily unavailable", ""]],
  [507, ["The server is out of storage", LATER]],
]);

const DELETED = ["Image deleted", "Its links no longer work."] as const;

/** The page for a request that has no image to show: it says why. */
export function problemPage(view: ProblemView, site: Site): Page {
  const { baseUrl, status, title, justDeleted } = view;
  const detail = detailOf(view);
  const [headline, advice] = sayingOf(view);
  const base = absoluteAddress(baseUrl);
  const isPending = status === 202;
  return documentPage({
    title: headline,
    ...site,
    baseUrl,
    layout: "problem",
    entry: justDeleted === true ? "edit" : "viewer",
    main: html`<div class="${isPending ? "card pending" : "card"}"${justDeleted === true && base !== null && html` data-deleted-from="${base.href}"`}>
<h1>${headline}</h1>
${isPending && html`<div class="bar" aria-hidden="true"></div>`}
${detail !== "" && html`<p>${withDates(detail)}</p>`}
${advice !== "" && html`<p>${advice}</p>`}
${pageLinks(view)}${authorityLine(view)}${waitLine(view)}
${base !== null && html`<p class="actions"><a class="button main" href="${base.href.replace(/\/$/, "")}/">Upload an image</a></p>`}
</div>
<p class="status">${status} ${title}</p>`,
    reportUrl: view.reportUrl,
    // A waiting page polls for the image.
    ...(isPending ? { policy: { "connect-src": "'self'" } } : {}),
  });
}

function sayingOf({ status, title, justDeleted, firstPageUrl }: ProblemView): readonly [string, string] {
  if (justDeleted === true) return DELETED;
  if (firstPageUrl !== undefined) return ["No such page", ""];
  // The title tells whether the image is processed or waits for review.
  if (status === 202 && title !== PROCESSING_TITLE) return [title, ""];
  return SAID.get(status) ?? [title, ""];
}

/** The detail as sentences, without what headline, advice and waiting time say too. */
function detailOf({ status, detail, justDeleted, retryAfterSeconds }: ProblemView): string {
  if (justDeleted === true) return "";
  const isAdvised = retryAfterSeconds !== undefined || SAID.get(status)?.[1] === LATER;
  const short = isAdvised && detail.endsWith(LATER) ? detail.slice(0, -LATER.length).trim() : detail;
  if (status === 500 && short === UNEXPECTED) return "";
  const start = /^[a-z]+ /.test(short) ? short.charAt(0).toUpperCase() : short.charAt(0);
  return start + short.slice(1) + (/\w$/.test(short) ? "." : "");
}

/** Links to the pages that a document has. */
function pageLinks({ firstPageUrl, lastPageUrl }: ProblemView): HtmlValue {
  const first = absoluteAddress(firstPageUrl ?? "");
  const last = absoluteAddress(lastPageUrl ?? "");
  if (first === null) return null;
  return html`<p><a href="${first.href}">First page</a>${last !== null && html` · <a href="${last.href}">Last page</a>`}</p>`;
}

function authorityLine({ authority }: ProblemView): HtmlValue {
  const address = authority === undefined ? null : absoluteAddress(authority);
  return address !== null && html`<p><a href="${address.href}" rel="nofollow">About this request</a></p>`;
}

function waitLine({ status, retryAfterSeconds }: ProblemView): Html | null {
  if (retryAfterSeconds === undefined || status === 202) return null;
  return html`<p>Try again in ${waitText(retryAfterSeconds)}.</p>`;
}
