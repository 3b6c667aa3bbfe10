import { parseRetryAfter, type Refusal, readDetail } from "./outcome.ts";

/** What the server answered, out of an error of Uppy's; status 0 where there was no answer. */
export function readRefusal(error: unknown): Refusal {
  const request = typeof error === "object" && error !== null && "request" in error ? error.request : null;
  if (!(request instanceof XMLHttpRequest)) return { status: 0, detail: null, retryAfterMs: null };
  return {
    status: request.status,
    detail: readDetail(request.responseText),
    retryAfterMs: parseRetryAfter(request.getResponseHeader("Retry-After"), Date.now()),
  };
}
