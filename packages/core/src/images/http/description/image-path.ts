import type { ImageFormat } from "../../../contracts/renderer.ts";
import type { ImageRateLimits } from "../../../http/image-rate-limits.ts";
import type { ApiHeader, ApiOperation, ApiResponse, PathItem } from "../../../openapi/document.ts";
import { headersOf, maybeHeader } from "../../../openapi/headers.ts";
import { type ProblemForm, problemResponse } from "../../../openapi/problems.ts";
import type { ImageSettings } from "../../image-settings.ts";
import { IMAGE_ID_SCHEMA } from "../../record/image-record.ts";

/** The settings, and what follows from them. */
export interface ImageFacts extends ImageSettings {
  hasPages: boolean;
  /** Output formats that at least one type of image can be served as. */
  formats: readonly ImageFormat[];
  /** Those `formats` that some types of images cannot be served as. */
  partialFormats: readonly ImageFormat[];
}

/** The standard texts of refusals. */
const WHY = {
  400: "a header, a parameter or the body is invalid; `detail` names it.",
  403: "the connection is not secure, or this client may not do that.",
  404: "there is no such image, it is gone for good, its processing failed, or the host refused it.",
  408: "the body stopped arriving, or arrived too slowly.",
  409: "the state of the image or a concurrent request does not allow it.",
  410: "the image was deleted or has expired.",
  412: "a condition of the request does not hold.",
  413: "the body is too large. The rest of it stays unread, and the connection is closed.",
  415: "the media type of the body is not accepted.",
  423: "another request is using the upload.",
  416: "the range lies beyond the bytes of the image.",
  429: "too many requests in a minute.",
  451: "the image is withheld for a legal reason. It may soon be deleted.",
  500: "an unexpected failure.",
  501: "no renderer for this conversion is installed.",
  503: "the service is overloaded or shutting down, or the storage failed.",
  507: "the storage is full.",
};

/** Statuses with which an image service may refuse a request. */
type ImageRefusal = keyof typeof WHY;

type Headers = Readonly<Record<string, ApiHeader>>;

const REFUSAL_HEADERS: Partial<Readonly<Record<ImageRefusal, Headers>>> = {
  409: maybeHeader("Retry-After", "Seconds to wait, if a retry may succeed."),
  416: headersOf("Content-Range"),
  423: headersOf("Retry-After"),
  429: headersOf("Retry-After", "RateLimit", "RateLimit-Policy"),
  451: maybeHeader("Link", 'The party that blocks the image, `rel="blocked-by"` (RFC 7725), if it is given.'),
  503: headersOf("Retry-After"),
};

/** An operation without the parts that follow from its route; {@link imagePath} adds them. */
export interface DeclaredOperation
  extends Pick<ApiOperation, "operationId" | "summary" | "description" | "parameters" | "requestBody"> {
  /** @default "Images" */
  tag?: "Description";
  /** Whether the request needs the PIN. */
  needsPin?: true;
  /** Replies that are no refusals, by status. */
  replies: Readonly<Record<string, ApiResponse>>;
  /** Refusals that do not follow from the route. */
  refusals?: readonly ImageRefusal[];
  /** Replaces the standard texts of refusals. */
  why?: Partial<Readonly<Record<ImageRefusal, string>>>;
  /** More headers of a refusal. */
  refusalHeaders?: (status: ImageRefusal) => Headers;
}

/** A method of a route, as far as the description depends on it. */
export interface DescribedMethod {
  /** The rate limit that each request counts against. @default none */
  budget?: keyof ImageRateLimits;
  /** The operation in the OpenAPI document; `null`: no renderer serves the format. @default not described, as pages and their forms */
  describe?: (facts: ImageFacts) => DeclaredOperation | null;
}

/** A route, as far as the description depends on it. */
export interface DescribedRoute {
  /** Path below the mount point, with its variable part in braces. */
  readonly pattern: string;
  /** Form of refusals. `page`: an HTML page for clients that prefer HTML, if the service has pages. */
  readonly form: ProblemForm;
  /** Whether the route exists only in a service with pages. */
  readonly needsPages?: true;
  /** Whether the route exists only where clients can resume uploads. */
  readonly needsResumable?: true;
  /** Whether the route exists only where clients can report images; `page`: and only with pages that have a form for it. */
  readonly needsReports?: "api" | "page";
  /** By name. GET includes HEAD. Every route has OPTIONS. */
  readonly methods: Readonly<Partial<Record<string, DescribedMethod>>>;
}

/** A route in the OpenAPI document; `null` for a route that does not exist with these options, or is not described. */
export function imagePath(facts: ImageFacts, route: DescribedRoute): PathItem | null {
  if (route.needsPages !== undefined && !facts.hasPages) return null;
  if (route.needsResumable !== undefined && facts.resumable === false) return null;
  if (route.needsReports !== undefined && facts.reportHours === null) return null;
  const form = route.form === "page" && !facts.hasPages ? "json" : route.form;
  const hasId = route.pattern.includes("{id}");
  const item: Partial<Record<string, ApiOperation>> = {};
  for (const [name, { budget, describe } = {}] of Object.entries(route.methods)) {
    const declared = describe?.(facts);
    if (declared === undefined || declared === null) continue;
    const statuses = statusesOf(facts, declared, hasId, budget);
    const isCounted = name !== "GET" && budget !== undefined && budget !== "reads";
    const limit = isCounted ? facts.rules[budget] : null;
    item[name.toLowerCase()] = operationOf(facts, declared, form, statuses, limit !== null);
  }
  if (Object.keys(item).length === 0) return null;
  const id = { name: "id", in: "path", required: true, schema: IMAGE_ID_SCHEMA } as const;
  return { ...(hasId ? { parameters: [id] } : {}), ...item };
}

/** The PIN as a header, in the query, or (the empty one) in the body. */
const WITH_PIN: ApiOperation["security"] = [{ imagePin: [] }, { imagePinInQuery: [] }, {}];

/** @param isCounted Whether a reply has the state of the rate limit. */
function operationOf(
  facts: ImageFacts,
  declared: DeclaredOperation,
  form: ProblemForm,
  statuses: readonly ImageRefusal[],
  isCounted: boolean,
): ApiOperation {
  const { tag, needsPin, replies, refusals, why, refusalHeaders, ...operation } = declared;
  const limits = isCounted ? headersOf("RateLimit", "RateLimit-Policy") : {};
  const succeeded = Object.entries(replies).map(([status, reply]) => [
    status,
    status.startsWith("2") ? { ...reply, headers: { ...reply.headers, ...limits } } : reply,
  ]);
  const refused = [...statuses, ...(refusals ?? [])].map((status) => [
    status,
    imageRefusal(facts, form, status, why?.[status], refusalHeaders?.(status)),
  ]);
  return {
    ...operation,
    tags: [tag ?? "Images"],
    security: needsPin === undefined ? [] : WITH_PIN,
    responses: { ...Object.fromEntries(succeeded), ...Object.fromEntries(refused) },
  };
}

/** The refusals that follow from the route. */
function statusesOf(
  { tls, authorize, rules }: ImageFacts,
  { requestBody }: DeclaredOperation,
  hasId: boolean,
  budget: DescribedMethod["budget"],
): ImageRefusal[] {
  const isLimited = budget !== undefined && rules[budget] !== null;
  const isGuessed = budget === "edits" && rules.pinFailures !== null;
  const asksHost = budget !== undefined && authorize !== null;
  const groups: readonly (readonly [boolean, readonly ImageRefusal[]])[] = [
    [true, [400, 503]],
    [tls !== "off" || asksHost, [403]],
    [hasId, [404, 410, 451]],
    [requestBody !== undefined, [408, 413, 415]],
    [isLimited || isGuessed, [429]],
  ];
  return groups.flatMap(([isPossible, statuses]) => (isPossible ? statuses : []));
}

/** The refusals of the description's own URL. */
export function descriptionRefusals(facts: ImageFacts): Readonly<Record<string, ApiResponse>> {
  const statuses = facts.tls === "off" ? ([400, 503] as const) : ([400, 403, 503] as const);
  return Object.fromEntries(statuses.map((status) => [status, imageRefusal(facts, "json", status)]));
}

function imageRefusal(
  { errors }: ImageFacts,
  form: ProblemForm,
  status: ImageRefusal,
  why = WHY[status],
  headers: Headers = {},
): ApiResponse {
  if (status === 500 && errors === "host") {
    return { description: `Internal Server Error: ${why} The host app replies.` };
  }
  return problemResponse(form, status, why, { ...REFUSAL_HEADERS[status], ...headers });
}
