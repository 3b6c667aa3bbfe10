import type { Call, Reply } from "../../../contracts/call.ts";
import type { Pages, ProblemView } from "../../../contracts/pages.ts";
import { type Problem, statusTitle } from "../../../http/problem.ts";
import { baseUrl, type ImageContext } from "../image-context.ts";
import { pageReply } from "./page-reply.ts";

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
    baseUrl: baseUrl(context, call),
    status,
    title: statusTitle(status),
    // The problem's own text names the header, which people do not see. The page shows the time.
    detail: status === 429 && wait !== null ? "Your network address has reached its limit." : problem.detail,
    ...((await isDeletedJustNow(context, call, problem, id)) ? { justDeleted: true } : {}),
  };
  const authority = linkOf(problem, "blocked-by");
  if (authority !== null) view.authority = authority;
  const firstPageUrl = linkOf(problem, "first");
  if (firstPageUrl !== null) view.firstPageUrl = firstPageUrl;
  const lastPageUrl = linkOf(problem, "last");
  if (lastPageUrl !== null) view.lastPageUrl = lastPageUrl;
  if (wait !== null) view.retryAfterSeconds = wait;
  return pageReply(call, pages.problem(view), status, {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    ...headers,
  });
}

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
