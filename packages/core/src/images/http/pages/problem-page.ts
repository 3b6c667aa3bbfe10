import type { Call, Reply } from "../../../contracts/call.ts";
import type { Pages, ProblemView } from "../../../contracts/pages.ts";
import { type Problem, statusTitle } from "../../../http/problem.ts";
import { baseUrl, type ImageContext } from "../image-context.ts";
import { pageReply } from "./page-reply.ts";

const BLOCKED_BY = /^<([^>]*)>; rel="blocked-by"$/;

/**
 * A refusal as a page: what its headers tell programs, the page tells people.
 * @param id of the image that is refused; `null` where it is none.
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
    // Programs are told of the header; people see what it says.
    detail: status === 429 && wait !== null ? "Too many requests came from your address." : problem.detail,
    ...((await isDeletedJustNow(context, call, problem, id)) ? { justDeleted: true } : {}),
  };
  const authority = BLOCKED_BY.exec(String(headers.Link ?? ""))?.[1];
  if (authority !== undefined) view.authority = authority;
  if (wait !== null) view.retryAfterSeconds = wait;
  return pageReply(call, pages.problem(view), status, {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    ...headers,
  });
}

/** Whether this is where the form leads to that deletes, and the image was deleted indeed. */
async function isDeletedJustNow(
  { library: { records } }: ImageContext,
  call: Call,
  { status }: Problem,
  id: string | null,
): Promise<boolean> {
  if (id === null || status !== 410 || new URLSearchParams(call.search).get("done") !== "delete")
    return false;
  // Without an answer now it is said of the image what is said of any that is gone.
  const current = records.peek(id) ?? (await records.load(id).catch(() => null));
  return current?.record.gone?.why === "deleted";
}

/** What `Retry-After` says; `null` where there is none. */
export function retryAfterSeconds({ headers }: Problem): number | null {
  const value = headers?.["Retry-After"];
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : null;
}
