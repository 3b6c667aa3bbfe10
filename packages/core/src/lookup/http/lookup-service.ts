import type { Call, Reply } from "../../contracts/call.ts";
import { hostRefusal, transportRefusal } from "../../http/client.ts";
import { createServiceShell, type ServiceShell } from "../../http/service-shell.ts";
import { isLookupProblem } from "../lookup-problem.ts";
import type { LookupHttp } from "./answer-request.ts";
import {
  CLOSING,
  DEPARTED,
  type Refusal,
  RefusedRequest,
  refusalOf,
  refusalReply,
  UNEXPECTED,
} from "./refusal.ts";
import { type LookupRoute, matchRoute } from "./routes.ts";

/** The lookup over HTTP. */
export function createLookupService(http: LookupHttp): ServiceShell {
  const { errors, cors, observer } = http.options;
  const reported = new WeakSet<Error>();
  return createServiceShell<LookupRoute, Refusal>({
    match: matchRoute,
    answer: (call, route) => dispatch(http, call, route),
    problemOf: refusalOf,
    problems: { closing: CLOSING, departed: DEPARTED, unexpected: UNEXPECTED },
    isReported(error) {
      // A wrong secret is the same error on every call.
      const isNews = !isLookupProblem(error) && error.code !== "overloaded" && !reported.has(error);
      reported.add(error);
      return isNews;
    },
    refuse: (call, _, refusal) => refusalReply(refusal, call.method === "HEAD"),
    errors,
    onError: http.lookup.settings.onError,
    cors,
    observer,
  });
}

async function dispatch(http: LookupHttp, call: Call, { methods, answer }: LookupRoute): Promise<Reply> {
  const fault = hostRefusal(call);
  if (fault !== null) throw new RefusedRequest("wrong_params", fault);
  const reason = transportRefusal(call, http.options.tls);
  if (reason !== null) throw new RefusedRequest("forbidden", reason);
  if (methods === null) return answer(http, call);
  const Allow = methods.join(", ");
  if (call.method === "OPTIONS") return { status: 204, headers: { Allow } };
  if (methods.includes(call.method)) return answer(http, call);
  throw new RefusedRequest("method_not_allowed", `Only ${Allow} are permitted`, { Allow });
}
