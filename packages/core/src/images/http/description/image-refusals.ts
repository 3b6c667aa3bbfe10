import type { ApiResponse } from "../../../openapi/document.ts";
import { headersOf, maybeHeader } from "../../../openapi/headers.ts";
import { type ProblemForm, problemResponse } from "../../../openapi/problems.ts";
import type { ImageFacts } from "./image-facts.ts";

/** Statuses with which an image service may refuse a request. */
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
  400: "a header, a parameter or the body is invalid; `detail` names it.",
  403: "the connection is not secure, or this client may not do that.",
  404: "there is no such image, it is gone for good, or its processing failed.",
  408: "the body stopped arriving, or arrived too slowly.",
  409: "the state of the image or a concurrent request does not allow it.",
  410: "the image was deleted or has expired.",
  412: "a condition of the request does not hold.",
  413: "the body is too large. The rest of it stays unread, and the connection is closed.",
  415: "the media type of the body is not accepted.",
  416: "the range lies beyond the bytes of the image.",
  429: "too many requests in a minute.",
  451: "the image is withheld for a legal reason. It may soon be deleted.",
  500: "an unexpected failure.",
  501: "no renderer for this conversion is installed.",
  503: "the service is overloaded or shutting down, or the storage failed.",
  507: "the storage is full.",
};

/** The refusals of one operation. @param words Replaces the standard text of a status. */
export function refusals(
  facts: ImageFacts,
  form: ProblemForm,
  statuses: readonly ImageRefusal[],
  words: Partial<Record<ImageRefusal, string>> = {},
  headers: ApiResponse["headers"] = {},
): Record<string, ApiResponse> {
  return Object.fromEntries(
    statuses.map((status) => {
      const why = words[status] ?? WHY[status];
      return [String(status), refusal(facts, form, status, why, { ...headersFor(status), ...headers })];
    }),
  );
}

function refusal(
  facts: ImageFacts,
  form: ProblemForm,
  status: ImageRefusal,
  why: string,
  headers: ApiResponse["headers"],
): ApiResponse {
  if (status === 500 && facts.errors === "host") {
    return { description: `Internal Server Error: ${why} The host app replies.` };
  }
  return problemResponse(form, status, why, headers);
}

function headersFor(status: ImageRefusal) {
  switch (status) {
    case 409:
      return maybeHeader("Retry-After", "Seconds to wait, if a retry may succeed.");
    case 416:
      return headersOf("Content-Range");
    case 429:
      return headersOf("Retry-After", "RateLimit", "RateLimit-Policy");
    case 451:
      return maybeHeader(
        "Link",
        'The party that blocks the image, `rel="blocked-by"` (RFC 7725), if it is given.',
      );
    case 503:
      return headersOf("Retry-After");
    default:
      return {};
  }
}

/** Refusals that any address may reply with. */
export function everywhere({ tls }: ImageFacts): ImageRefusal[] {
  return tls !== "off" ? [400, 403, 503] : [400, 503];
}

/** Refusals of a request with a body. */
export const OF_BODIES = [408, 413, 415] as const satisfies ImageRefusal[];

/** Refusals by the life of an image. */
export const OF_LIFE = [404, 410, 451] as const satisfies ImageRefusal[];

/** Refusals by rate limits. */
export function ofLimits(
  { rules }: ImageFacts,
  ...names: readonly (keyof ImageFacts["rules"])[]
): ImageRefusal[] {
  return names.some((name) => rules[name] !== null) ? [429] : [];
}

/** Refusals by the host app. */
export function ofHost({ authorize }: ImageFacts): ImageRefusal[] {
  return authorize !== null ? [403] : [];
}

/** Sorts statuses, without duplicates. */
export function inOrder(...statuses: readonly ImageRefusal[]): ImageRefusal[] {
  return [...new Set(statuses)].sort((a, b) => a - b);
}
