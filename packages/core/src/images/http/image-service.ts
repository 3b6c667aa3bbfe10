import type { Call, Reply } from "../../contracts/call.ts";
import type { Observer } from "../../contracts/observer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { connectionRefusal, UNTRUSTED_PROXY_WARNING, watchForProxy } from "../../http/client.ts";
import type { CorsOptions } from "../../http/cors.ts";
import { type CrossSiteOptions, crossSiteRefusal } from "../../http/cors.ts";
import { HttpProblem, type Problem, problemOf, problemReply } from "../../http/problem.ts";
import { createServiceShell, type ServiceShell } from "../../http/service-shell.ts";
import { StillProcessing } from "../library/find-image.ts";
import { readTicket } from "../library/upload-tickets.ts";
import type { ImageContext } from "./image-context.ts";
import { countRequest, ticketOf } from "./image-context.ts";
import { prefersHtml, problemPage, processingReply } from "./pages/problem-page.ts";
import { nothingHere } from "./pages/site-pages.ts";
import { refusedUpload } from "./pages/upload-form.ts";
import { createHotRead } from "./prepared-read.ts";
import { createRouter, ID_ROUTE, type MatchedRoute } from "./router.ts";

/** Codes of failures that are reported to the operator. */
const REPORTED = ["store_unavailable", "no_space", "damaged", "host_misuse"];

const PROBLEMS: Record<"closing" | "departed" | "unexpected", Problem> = {
  closing: {
    status: 503,
    detail: "The service is shutting down. Try again later.",
    headers: { "Retry-After": "2", Connection: "close" },
  },
  departed: { status: 400, detail: "The client disconnected before the reply." },
  unexpected: { status: 500, detail: "Something unexpected went wrong. Try again later." },
};

/** The image service over HTTP: paths to routes, failures to problems. */
export function createImageService(
  context: ImageContext,
  { cors, observer }: { cors: CorsOptions | undefined; observer: Observer | undefined },
): ServiceShell {
  const { settings } = context;
  const watch = watchForProxy((header) => settings.log.warn({ header }, UNTRUSTED_PROXY_WARNING));
  const hotRead = createHotRead(context);
  const match = createRouter(context.pages, context.resumable !== null, settings.reportHours !== null);
  return createServiceShell<MatchedRoute, Problem>({
    match,
    answerNow(call, inFront) {
      watch(call);
      return hotRead(call, inFront);
    },
    async answer(call, matched) {
      watch(call);
      try {
        const reply = await answer(context, call, matched, cors);
        return reply && withHeaders(context, matched, reply);
      } catch (error) {
        const record = StillProcessing.recordOf(error);
        if (record === null) throw error;
        const reply = processingReply(context, call, record, matched.row.isRecord === undefined);
        return withHeaders(context, matched, reply);
      }
    },
    problemOf(error) {
      if (error instanceof HttpProblem) return error.problem;
      return isServiceError(error) ? problemOf(error) : null;
    },
    problems: PROBLEMS,
    isReported: ({ code }) => REPORTED.includes(code),
    refuse: async (call, matched, problem) =>
      withHeaders(context, matched, await refusal(context, call, matched, problem)),
    errors: settings.errors,
    onError: settings.onError,
    cors,
    // A ticket is no cookie: a browser does not add it by itself to the request of another origin's page.
    isForAllOrigins: (call) =>
      ticketOf(call) !== null && match(call.path)?.row.takesTicket?.includes(call.method) === true,
    observer,
  });
}

/** The reply with the headers of its route. */
function withHeaders({ settings }: ImageContext, { row }: MatchedRoute, reply: Reply): Reply {
  return row.headers === undefined
    ? reply
    : { ...reply, headers: { ...reply.headers, ...row.headers(settings) } };
}

async function answer(
  context: ImageContext,
  call: Call,
  matched: MatchedRoute,
  cors: CorsOptions | undefined,
): Promise<Reply | undefined> {
  const { guard } = context.library;
  const { row, name } = matched;
  if (!guard.isOpen) await guard.open();
  // A bare path that only looks like an ID belongs to the host, for any method and connection: a slug may have 22
  // characters.
  if (row.pattern === ID_ROUTE && !(await isKnown(context, call, name))) return undefined;
  const connection = connectionRefusal(call, context.settings);
  if (connection !== null) throw connection;
  if (call.method === "OPTIONS") return { status: 204, headers: { Allow: row.allow } };
  if (row.methods.size === 0) throw nothingHere();
  const method = row.methods.get(call.method);
  if (method === undefined) throw methodProblem(row.allow);
  const ticket = row.takesTicket?.includes(call.method) ? ticketOf(call) : null;
  // Before the request is counted: a page of another origin can send any text as a ticket.
  if (ticket !== null) readTicket(context.library, ticket);
  else if (method.isUploadForm) requireConsent(context, call, { cors: undefined, allowsNull: false });
  // Also where the host does not decide: other sites must not let their readers report images.
  else if (method.isReport)
    requireConsent(context, call, { cors: row.form === "page" ? undefined : cors, allowsNull: false });
  // The form of the edit page has no referrer, and proves its origin by the PIN.
  else if (context.permissions.areAsked)
    requireConsent(context, call, { cors, allowsNull: row.form === "page" });
  const limits = method.budget === undefined ? {} : await countRequest(context, call, method.budget);
  const reply = await method.handle(context, call, name);
  // Reads may be cached.
  const isCounted = !["GET", "HEAD"].includes(call.method) && method.budget !== "reads" && reply.status < 300;
  return isCounted ? { ...reply, headers: { ...reply.headers, ...limits } } : reply;
}

async function isKnown({ library }: ImageContext, call: Call, id: string): Promise<boolean> {
  const { records } = library;
  return records.peek(id) !== undefined || (await records.load(id, call.signal)) !== null;
}

/** The host decides by what the browser sends along, such as cookies, so the request must come from a permitted page. */
function requireConsent(
  { settings }: ImageContext,
  call: Call,
  from: Pick<CrossSiteOptions, "cors" | "allowsNull">,
): void {
  const reason = crossSiteRefusal(call, { publicUrl: settings.publicUrl, ...from });
  if (reason !== null) throw new ServiceError("forbidden", reason);
}

function methodProblem(Allow: string): HttpProblem {
  return new HttpProblem({ status: 405, detail: `Here only ${Allow} are permitted.`, headers: { Allow } });
}

async function refusal(
  context: ImageContext,
  call: Call,
  matched: MatchedRoute,
  problem: Problem,
): Promise<Reply> {
  const { pages } = context;
  const { pattern, form, methods } = matched.row;
  if (pages !== null && form === "page" && prefersHtml(call, "application/problem+json")) {
    if (methods.get(call.method)?.isUploadForm) return refusedUpload(context, call, problem);
    return problemPage(context, call, pages, problem, pattern.startsWith(ID_ROUTE) ? matched.name : null);
  }
  const reply = problemReply(problem, `${call.mountPath}${call.path}`, form === "text");
  if (call.method !== "HEAD") return reply;
  const { status, headers } = reply;
  // A client that asks for the state of an upload would begin another one.
  const isLocked = pattern === "/api/uploads/{upload}" && (status === 429 || status >= 500);
  return isLocked ? { status: 423, headers: { "Retry-After": "2", ...headers } } : { status, headers };
}
