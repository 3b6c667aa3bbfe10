import type { Call } from "../../contracts/call.ts";
import type { Pages, PlacedView } from "../../contracts/pages.ts";
import type { RateLimiter } from "../../contracts/rate-limiter.ts";
import { ServiceError } from "../../errors.ts";
import { clientKey } from "../../http/client.ts";
import { type Bucket, ClientLimit, refusingBucket } from "../../http/client-limit.ts";
import { utf8Of } from "../../http/header-text.ts";
import type { ImageRateLimits } from "../../http/image-rate-limits.ts";
import { HttpProblem } from "../../http/problem.ts";
import type { Description } from "../../openapi/description.ts";
import type { ImageSettings } from "../image-settings.ts";
import { findImage, requireAlive, requireReady } from "../library/find-image.ts";
import type { LibraryContext } from "../library/library-context.ts";
import type { DateSource } from "../record/image-fields.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { ResumableUploads } from "../uploads/resumable-uploads.ts";
import type { Audience, Permissions } from "./permissions.ts";
import type { UploadGate } from "./upload-slots.ts";

/** The parts that the routes of one image service share. */
export interface ImageContext {
  library: LibraryContext;
  settings: ImageSettings;
  permissions: Permissions;
  limiter: RateLimiter;
  uploads: UploadGate;
  /** `null`: clients cannot resume uploads. */
  resumable: ResumableUploads | null;
  pages: Pages | null;
  description: Description;
}

/** Absolute URL of the mount point, without a trailing slash. */
export function baseUrl({ settings }: ImageContext, call: Call): string {
  return settings.publicUrl ?? call.origin + call.mountPath;
}

/** What every view of a page has. */
export function placeOf(context: ImageContext, call: Call): PlacedView {
  const acceptLanguage = call.headers["accept-language"];
  return { baseUrl: baseUrl(context, call), ...(acceptLanguage === undefined ? {} : { acceptLanguage }) };
}

/** A living image, and which caches may store its reply. */
export interface Viewing {
  current: CurrentRecord;
  audience: Audience;
}

/**
 * Loads a living image for a client that reads it. Rejects like `requireAlive`, then with `forbidden`, last with
 * `processing`: a client that may not see an image must not learn its progress either.
 */
export async function findForRead(
  { library, permissions }: ImageContext,
  call: Call,
  id: string,
): Promise<Viewing> {
  // Without `call.signal`: making one costs as much as the look-up, which its store ends in time.
  const current = await findImage(library, id);
  const audience = await permissions.permitRead(call, current.record);
  // The host's decision may have taken long enough for the image to end.
  if (permissions.areAsked) await requireAlive(library, current);
  requireReady(library, current);
  return { current, audience };
}

type Limit = keyof ImageRateLimits;

/**
 * Counts a request against a rate limit of its client. Rejects with 429 beyond the limit.
 * @returns Headers with the state of the limit; none if the limit is off.
 */
export async function countRequest(
  context: ImageContext,
  call: Call,
  limit: Limit,
): Promise<Record<string, string>> {
  const rule = context.settings.rules[limit];
  if (rule === null) return {};
  const client = clientKey(call.clientIp);
  if (limit === "creates") {
    const { own, refusing } = await new ClientLimit(context.limiter, limit, rule).count(client);
    if (refusing !== undefined) throw tooMany(limit, refusing);
    return limitHeaders(limit, own);
  }
  const bucket = { rule, ...(await context.limiter.consume(`${limit}:${client}`, rule)) };
  if (!bucket.allowed) throw tooMany(limit, bucket);
  return limitHeaders(limit, bucket);
}

/** Reports of a client, which each an operator must read. The limit per minute alone allows thousands a day. */
const DAILY_REPORTS = { limit: 20, windowMs: 86_400_000 };

/** Counts a report against the limit of its client per day, unless reports are not limited. Rejects with 429 beyond the limit. */
export async function countReport({ settings, limiter }: ImageContext, client: string): Promise<void> {
  if (settings.rules.reports === null) return;
  const bucket = await limiter.consume(`daily-reports:${client}`, DAILY_REPORTS);
  if (!bucket.allowed) throw tooMany("reports", { rule: DAILY_REPORTS, ...bucket });
}

/** Gives back what {@link countRequest} counted. */
export async function refundRequest(context: ImageContext, call: Call, limit: "creates"): Promise<void> {
  const rule = context.settings.rules[limit];
  if (rule !== null) await new ClientLimit(context.limiter, limit, rule).refund(clientKey(call.clientIp));
}

/** Whether {@link countReadNow} can count. */
export function countsNow({ settings, limiter }: ImageContext): boolean {
  return settings.rules.reads === null || limiter.consumeNow !== undefined;
}

/** Counts a read as {@link countRequest} does, without a promise. @returns `false`: refused or failed; nothing was counted. */
export function countReadNow({ settings, limiter }: ImageContext, call: Call): boolean {
  const rule = settings.rules.reads;
  if (rule === null) return true;
  try {
    return limiter.consumeNow?.(`reads:${clientKey(call.clientIp)}`, rule).allowed === true;
  } catch {
    // `countRequest` fails in the same way, and its caller reports it.
    return false;
  }
}

/**
 * Checks the PIN of a request. A missing or wrong PIN rejects with `forbidden` and counts against the client. After
 * too many, this client gets 429 for the rest of the window, even with the right PIN. Clients of other networks are not
 * affected: their first attempt is always checked.
 */
export async function requirePin(context: ImageContext, call: Call, id: string, pin: unknown): Promise<void> {
  const rule = context.settings.rules.pinFailures;
  const client = clientKey(call.clientIp);
  const failures = rule === null ? null : new ClientLimit(context.limiter, "pinFailures", rule);
  if (failures !== null) {
    const refusing = refusingBucket(await failures.peek(client), ({ allowed }) => !allowed);
    if (refusing !== undefined) throw tooMany("pinFailures", refusing);
  }
  if (typeof pin === "string" && pin !== "" && context.library.pins.verify(id, pin)) return;
  await failures?.charge(client, 1);
  throw new ServiceError(
    "forbidden",
    pin === undefined || pin === "" ? "The PIN is missing" : "The PIN is wrong",
  );
}

type BucketState = Pick<Bucket, "rule" | "remaining" | "resetMs">;

function tooMany(limit: Limit, bucket: BucketState): HttpProblem {
  return new HttpProblem({
    status: 429,
    detail: "Too many requests. Wait for the seconds in Retry-After.",
    headers: { "Retry-After": String(seconds(bucket.resetMs)), ...limitHeaders(limit, bucket) },
  });
}

/**
 * `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). The window of a bucket is the time in which
 * an empty one fills.
 */
function limitHeaders(limit: Limit, { rule, remaining, resetMs }: BucketState): Record<string, string> {
  const { limit: perWindow, windowMs, burst: quota = perWindow } = rule;
  return {
    "RateLimit-Policy": `"${limit}";q=${quota};w=${seconds((quota / perWindow) * windowMs)}`,
    RateLimit: `"${limit}";r=${remaining};t=${seconds(resetMs)}`,
  };
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** Maximum length of a JSON object or of a form without a file, in bytes. */
export const MAX_BODY_BYTES = 16 * 1024;

/** The parameters of a request: of its query, overridden by those of its body. */
export interface RequestParameters {
  get(name: string): unknown;
  sourceOf(name: string): DateSource;
  /** Whether the request has a body. Its reply must not be cached then. */
  hasBody: boolean;
}

/** Reads query and body. Rejects like {@link Call.fields}, and with `bad_request` for a query that is not UTF-8. */
export async function requestParameters(call: Call, settings: ImageSettings): Promise<RequestParameters> {
  requireUtf8Query(call.search);
  const query = new URLSearchParams(call.search);
  const bounds = { maxBytes: MAX_BODY_BYTES, idleMs: settings.uploadIdleMs };
  const body = hasBody(call) ? await call.fields(bounds) : null;
  const isInBody = (name: string) => body !== null && Object.hasOwn(body, name) && body[name] !== undefined;
  return {
    get: (name) => (isInBody(name) ? body?.[name] : (query.get(name) ?? undefined)),
    sourceOf: (name) => (isInBody(name) ? (isJson(call) ? "json" : "form") : "query"),
    hasBody: body !== null,
  };
}

/** Whether the headers announce a body (RFC 9112 §6.3). */
export function hasBody(call: Call): boolean {
  const length = call.headers["content-length"];
  return call.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

export function isJson(call: Call): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(call.headers["content-type"] ?? "");
}

/** The ticket in the query of a call, which permits an upload instead of `authorize`; `null`: it has none. */
export function ticketOf({ search }: Call): string | null {
  return (search.includes("ticket=") && new URLSearchParams(search).get("ticket")) || null;
}

/** The PIN of a request: header, body or query. */
export function pinOf(call: Call, parameters: RequestParameters): unknown {
  const header = call.headers["x-service-image-pin"];
  return typeof header === "string" ? utf8Of(header) : parameters.get("pin");
}

/** Rejects a query with invalid UTF-8, such as `%ff`. */
export function requireUtf8Query(search: string): void {
  if (!search.includes("%")) return;
  try {
    decodeURIComponent(search.replaceAll("+", " "));
  } catch (cause) {
    throw new ServiceError("bad_request", "The query is not valid percent-encoded UTF-8", { cause });
  }
}
