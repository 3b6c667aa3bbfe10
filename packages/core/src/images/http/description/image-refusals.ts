import type { ApiResponse } from "../../../openapi/document.ts";
import { headersOf, maybeHeader } from "../../../openapi/headers.ts";
import { type ProblemForm, problemResponse } from "../../../openapi/problems.ts";
import type { ImageFacts } from "./image-facts.ts";

/** What may be in the way of a request to an image service. */
export type ImageRefusal =
  | 400
  | 403
  | 404
  | 408
  | 409
  | 410
  | 412
  | 413
  | 415
  | 416
  | 429
  | 451
  | 500
  | 501
  | 503
  | 507;

const WHY: Readonly<Record<ImageRefusal, string>> = {
  400: "a header, a parameter or the body is wrong; `detail` says which.",
  403: "the connection is not secure, or this client may not do that.",
  404: "there is no such image, it is gone for good, or its processing failed.",
  408: "the body stopped coming, or came too slowly.",
  409: "the state of the image, or another request at the same time, does not allow it.",
  410: "the image was deleted or has expired.",
  412: "a condition of the request does not hold.",
  413: "the body is too large. The rest of it stays unread, and the connection is closed.",
  415: "the body has a media type that is not taken here.",
  416: "the image has no such bytes.",
  429: "too many requests in a minute.",
  451: "the image is withheld for a legal reason. It may soon be deleted.",
  500: "something unexpected went wrong.",
  501: "no renderer for this conversion is installed.",
  503: "overload, trouble with the storage, or the service is shutting down.",
  507: "the storage has no room left.",
};

/** Refusals of one operation, in other words where given. */
export function refusals(
  facts: ImageFacts,
  form: ProblemForm,
  statuses: readonly ImageRefusal[],
  words: Partial<Record<ImageRefusal, string>> = {},
): Record<string, ApiResponse> {
  return Object.fromEntries(
    statuses.map((status) => [String(status), refusal(facts, form, status, words[status] ?? WHY[status])]),
  );
}

function refusal(facts: ImageFacts, form: ProblemForm, status: ImageRefusal, why: string): ApiResponse {
  if (status === 500 && facts.leavesFailures) {
    return { description: `Internal Server Error: ${why} The answer is the host app's own.` };
  }
  return problemResponse(form, status, why, headersFor(status));
}

function headersFor(status: ImageRefusal) {
  switch (status) {
    case 409:
      return maybeHeader("Retry-After", "Seconds to wait, where waiting helps.");
    case 416:
      return headersOf("Content-Range");
    case 429:
      return headersOf("Retry-After", "RateLimit", "RateLimit-Policy");
    case 451:
      return maybeHeader("Link", 'Who blocks it: `rel="blocked-by"` (RFC 7725), where that is told.');
    case 503:
      return headersOf("Retry-After");
    default:
      return {};
  }
}

/** What any address may answer. */
export function everywhere({ requiresTls }: ImageFacts): ImageRefusal[] {
  return requiresTls ? [400, 403, 503] : [400, 503];
}

/** What a request that carries a body may meet. */
export const OF_BODIES = [408, 413, 415] as const satisfies ImageRefusal[];

/** What the life of an image may be in the way of. */
export const OF_LIFE = [404, 410, 451] as const satisfies ImageRefusal[];

/** What a limit may be in the way of. */
export function ofLimits(
  { limits }: ImageFacts,
  ...names: readonly (keyof ImageFacts["limits"])[]
): ImageRefusal[] {
  return names.some((name) => limits[name] !== null) ? [429] : [];
}

/** What the host app may be in the way of. */
export function ofHost({ asksHost }: ImageFacts): ImageRefusal[] {
  return asksHost ? [403] : [];
}

/** Each once, the lowest first. */
export function inOrder(...statuses: readonly ImageRefusal[]): ImageRefusal[] {
  return [...new Set(statuses)].sort((a, b) => a - b);
}
