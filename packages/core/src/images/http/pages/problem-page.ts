import Negotiator from "negotiator";
import type { Call, Reply } from "../../../contracts/call.ts";
import type { Page, Pages, ProblemView } from "../../../contracts/pages.ts";
import { ServiceError } from "../../../errors.ts";
import { type Problem, statusTitle } from "../../../http/problem.ts";
import { textReply } from "../../../http/text-reply.ts";
import { retryAfterMs } from "../../library/find-image.ts";
import { detailsOf } from "../../record/image-links.ts";
import type { ImageRecord } from "../../record/image-record.ts";
import type { ImageContext } from "../image-context.ts";
import { baseUrl, placeOf } from "../image-context.ts";
import { sunsetHeader } from "../prepared-read.ts";
import { reportLink } from "./image-view.ts";

/**
 * A refusal as a page. The page shows people what the headers tell programs.
 * @param id The refused image; `null` if the refusal concerns no image.
 */
export async function problemPage(
  context: ImageContext,
  call: Call,
  pages: Pages,
  problem: Problem,
  id: string | null,
): Promise<Reply> {
  const { status, headers = {} } = problem;
  const wait = retryAfterSeconds(problem);
  const view: ProblemView = {
    ...placeOf(context, call),
    status,
    title: statusTitle(status),
    // The problem's own text names the header, which people do not see. The page shows the time.
    detail: status === 429 && wait !== null ? "Your network address has reached its limit." : problem.detail,
    ...((await isDeletedJustNow(context, call, problem, id)) ? { justDeleted: true } : {}),
  };
  for (const [field, relation] of LINKS) {
    const target = linkOf(problem, relation);
    if (target !== null) view[field] = target;
  }
  if (wait !== null) view.retryAfterSeconds = wait;
  // Otherwise the image has ended, or this client may not see it.
  if (id !== null && view.firstPageUrl !== undefined)
    Object.assign(view, reportLink(context, view.baseUrl, id));
  return pageReply(call, pages.problem(view), status, {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    ...headers,
  });
}

const LINKS = [
  ["authority", "blocked-by"],
  ["firstPageUrl", "first"],
  ["lastPageUrl", "last"],
] as const;

/** The target of the `Link` with this relation; `null` if there is none. */
function linkOf({ headers }: Problem, relation: string): string | null {
  const links = String(headers?.Link ?? "").matchAll(/<([^>]*)>; rel="([\w-]+)"/g);
  return [...links].find(([, , rel]) => rel === relation)?.[1] ?? null;
}

/** Whether this request is the redirect after deleting by the form, and the image was in fact deleted. */
async function isDeletedJustNow(
  { library: { records } }: ImageContext,
  call: Call,
  { status }: Problem,
  id: string | null,
): Promise<boolean> {
  if (id === null || status !== 410 || new URLSearchParams(call.search).get("done") !== "delete")
    return false;
  // If the store fails, the page shows the standard text for gone images.
  const current = records.peek(id) ?? (await records.load(id).catch(() => null));
  return current?.record.gone?.why === "deleted";
}

/** The value of `Retry-After`; `null` if it is absent. */
export function retryAfterSeconds({ headers }: Problem): number | null {
  const value = headers?.["Retry-After"];
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : null;
}

/** The pages of the service. Throws `not_implemented` without pages. */
export function requirePages({ pages }: ImageContext): Pages {
  if (pages === null) throw new ServiceError("not_implemented", "This service has no pages");
  return pages;
}

/** A reply with a page. */
export function pageReply(
  call: Call,
  page: Page,
  status: number,
  headers: Record<string, string | string[]>,
): Reply {
  const { html, contentSecurityPolicy, headers: own } = page;
  const Vary = [headers.Vary, own?.Vary].filter((each) => each !== undefined).join(", ");
  const all = { "Content-Security-Policy": contentSecurityPolicy, ...own, ...headers };
  return textReply(call, status, "text/html", html, Vary === "" ? all : { ...all, Vary });
}

/** Whether a client prefers a page to the picture: a browser's address bar does; its `<img>` and curl do not. */
export function prefersHtml(call: Call, otherwise: string): boolean {
  if (!call.headers.accept?.includes("text/html")) return false;
  return new Negotiator({ headers: call.headers }).mediaType([otherwise, "text/html"]) === "text/html";
}

const PROCESSING = ["Processing", "This image is still being processed."] as const;
const HELD = ["Waiting for review", "This image is shown when its review is over."] as const;

/**
 * The reply of an image that is still processed or held: 202 with the record, or a page that reloads itself.
 * @param mayBePage Whether clients that prefer HTML get the page.
 */
export function processingReply(
  context: ImageContext,
  call: Call,
  record: ImageRecord,
  mayBePage: boolean,
): Reply {
  const { pages, settings } = context;
  const seconds = String(retryAfterMs(record, settings.now()) / 1000);
  const headers = { "Cache-Control": "no-store", "Retry-After": seconds, ...sunsetHeader(record) };
  if (pages !== null && mayBePage && prefersHtml(call, "application/json")) {
    const [title, why] = record.held ? HELD : PROCESSING;
    const page = pages.problem({
      ...placeOf(context, call),
      status: 202,
      title,
      detail: `${why} This page refreshes automatically.`,
      ...reportLink(context, baseUrl(context, call), record.id),
    });
    return pageReply(call, page, 202, { ...headers, Refresh: seconds });
  }
  const body = JSON.stringify(detailsOf(baseUrl(context, call), record));
  return textReply(call, 202, "application/json", body, headers);
}
