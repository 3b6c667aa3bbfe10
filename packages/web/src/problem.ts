import type { Page, ProblemView } from "@outrigger/core/images";
import { absoluteAddress } from "./addresses.ts";
import { documentPage, type Site } from "./document.ts";
import { type Html, type HtmlValue, html } from "./html.ts";
import { waitText, withDates } from "./phrases.ts";
import { t, textOf } from "./texts.ts";

const LATER = "Try again later.";
/** The service's text of an unexpected failure. */
const UNEXPECTED = "Something unexpected went wrong.";

const PROCESSING_TITLE = "Processing";

/** The statuses of a failure that a later try may not meet. */
const FAILED: readonly number[] = [500, 507];

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
${base !== null && html`<p class="actions"><a class="button main" href="${base.href.replace(/\/$/, "")}/">${t("page.upload")}</a></p>`}
</div>
<p class="status">${status} ${title}</p>`,
    reportUrl: view.reportUrl,
    // A waiting page polls for the image.
    ...(isPending ? { policy: { "connect-src": "'self'" } } : {}),
  });
}

function sayingOf({ status, title, justDeleted, firstPageUrl }: ProblemView): readonly [string, string] {
  if (justDeleted === true) return [t("problem.deleted"), t("problem.deleted.advice")];
  if (firstPageUrl !== undefined) return [t("problem.noPage"), ""];
  // The title tells whether the image is processed or waits for review.
  if (status === 202 && title !== PROCESSING_TITLE) return [t("problem.held"), ""];
  return [textOf(`problem.${status}`) ?? title, textOf(`problem.${status}.advice`) ?? ""];
}

/** The detail as sentences, without what headline, advice and waiting time say too. */
function detailOf({ status, detail, justDeleted, retryAfterSeconds }: ProblemView): string {
  if (justDeleted === true) return "";
  const isAdvised = retryAfterSeconds !== undefined || FAILED.includes(status);
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
  return html`<p><a href="${first.href}">${t("problem.firstPage")}</a>${last !== null && html` · <a href="${last.href}">${t("problem.lastPage")}</a>`}</p>`;
}

function authorityLine({ authority }: ProblemView): HtmlValue {
  const address = authority === undefined ? null : absoluteAddress(authority);
  return (
    address !== null && html`<p><a href="${address.href}" rel="nofollow">${t("problem.authority")}</a></p>`
  );
}

function waitLine({ status, retryAfterSeconds }: ProblemView): Html | null {
  if (retryAfterSeconds === undefined || status === 202) return null;
  return html`<p>${t("wait.again", { time: waitText(retryAfterSeconds) })}</p>`;
}
