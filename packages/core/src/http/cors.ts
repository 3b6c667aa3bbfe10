import { checkValue } from "../check-options.ts";
import type { Call, Reply, Service } from "../contracts/call.ts";
import {
  flag,
  nested,
  type OptionProblem,
  type Options,
  preset,
  refined,
  required,
  value,
} from "../option-rules.ts";
import { parsedUrl } from "../parsed-url.ts";

const CORS_RULES = {
  /**
   * Origins as browsers send them: `https://host` or `https://host:port`, or `null` for sandboxed and local pages.
   * `"*"` allows every origin.
   */
  origins: required(
    value<readonly string[] | "*">(
      'a list of origins, or "*"',
      (given) => given === "*" || Array.isArray(given),
    ),
  ),
  /** Lets those pages send cookies and other credentials. Not allowed with `"*"`. @default false */
  credentials: preset(false, flag()),
};

/** Origins whose pages may use the service from scripts. */
export interface CorsOptions extends Options<typeof CORS_RULES> {}

/** The rule of the option `cors`. */
export const CORS_RULE = refined(nested(CORS_RULES), ({ origins, credentials }: CorsOptions) => {
  if (origins !== "*") return origins.flatMap(originFaults);
  const text = 'needs a list of origins: browsers refuse them with "*"';
  return credentials === true ? [{ path: ".credentials", text }] : [];
});

/** Request headers that pages may set in addition to the CORS-safelisted ones. */
const REQUEST_HEADERS = [
  "Content-Type",
  "If-Match",
  "If-None-Match",
  "If-Modified-Since",
  "If-Unmodified-Since",
  "If-Range",
  "Range",
  "Prefer",
  "Idempotency-Key",
  "X-Service-Image-Pin",
  "Authorization",
  "X-API-KEY",
  "Traceparent",
  "Tus-Resumable",
  "Upload-Length",
  "Upload-Metadata",
  "Upload-Offset",
  // Upload widgets in browsers send these.
  "X-Requested-With",
  "Cache-Control",
].join(", ");

/** Response headers that pages may read in addition to the CORS-safelisted ones. */
const REPLY_HEADERS = [
  "Location",
  "Link",
  "ETag",
  "Last-Modified",
  "Content-Disposition",
  "Content-Range",
  "Accept-Ranges",
  "Retry-After",
  "Sunset",
  "RateLimit",
  "RateLimit-Policy",
  "Preference-Applied",
  "Tus-Resumable",
  "Tus-Version",
  "Tus-Extension",
  "Tus-Max-Size",
  "Upload-Offset",
  "Upload-Length",
  "Upload-Metadata",
  "Upload-Expires",
  "X-Service-Image-Url",
  "X-Service-Image-Edit-Url",
  "X-Service-Image-Pin",
  "X-Service-Image-Id",
].join(", ");

const PREFLIGHT_SECONDS = "600";

/**
 * Wraps a service so that pages of other origins can use it. A preflight gets the CORS headers added to the
 * service's own answer to OPTIONS. Requests outside the service stay with the host.
 * @throws TypeError for a value that no browser sends as an origin, and for credentials with `"*"`.
 */
export function corsService(service: Service, options: CorsOptions): Service {
  checkValue("cors", options, CORS_RULE);
  // `null`: all origins.
  const allowed = options.origins === "*" ? null : new Set(options.origins);
  const credentials = options.credentials === true ? { "Access-Control-Allow-Credentials": "true" } : {};

  /** The headers that grant access to an origin; `null`: it has no access. */
  function permission(origin: string | undefined): Record<string, string> | null {
    // The same for every origin, so that a cache can serve one reply to all.
    if (allowed === null) return { "Access-Control-Allow-Origin": "*" };
    if (origin === undefined || !allowed.has(origin)) return null;
    return { "Access-Control-Allow-Origin": origin, ...credentials };
  }

  /** The headers of the reply to a call. Copied, not changed: the service may return the same object again. */
  function headersOf(call: Call, reply: Pick<Reply, "headers">): Record<string, string | string[]> {
    const granted = permission(call.headers.origin);
    const own = granted === null ? {} : { ...granted, ...(isPreflight(call) ? preflight(reply) : ACTUAL) };
    const headers = allowed === null ? reply.headers : varyByOrigin(reply.headers);
    return { ...headers, ...own };
  }

  return {
    async handle(call) {
      const reply = await service.handle(call);
      return reply && { ...reply, headers: headersOf(call, reply) };
    },
    answerNow(call, inFront) {
      const reply = service.answerNow?.(call, inFront);
      if (reply === undefined) return undefined;
      const { headers } = reply;
      const at = headers.findIndex((name, index) => index % 2 === 0 && name === "Vary");
      const own = at === -1 ? NO_HEADERS : { Vary: headers[at + 1] ?? "" };
      const others = at === -1 ? headers : headers.toSpliced(at, 2);
      const added = Object.entries(headersOf(call, { headers: own })).flat(2);
      return { ...reply, headers: [...others, ...added] };
    },
  };
}

const NO_HEADERS = {};
const ACTUAL = { "Access-Control-Expose-Headers": REPLY_HEADERS };

function isPreflight({ method, headers }: Call): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined
  );
}

/** The methods are those of the URL; a rejected preflight names none. */
function preflight({ headers }: Pick<Reply, "headers">): Record<string, string> {
  const name = headerNamed(headers, "allow");
  const methods = name === undefined ? undefined : headers[name];
  return {
    ...(methods === undefined ? {} : { "Access-Control-Allow-Methods": [methods].flat().join(", ") }),
    "Access-Control-Allow-Headers": REQUEST_HEADERS,
    "Access-Control-Max-Age": PREFLIGHT_SECONDS,
  };
}

/**
 * A copy of the headers with `Origin` in `Vary`, since the reply depends on the origin, also if the request
 * had none.
 */
function varyByOrigin(headers: Reply["headers"]): Record<string, string | string[]> {
  const name = headerNamed(headers, "vary");
  if (name === undefined) return { ...headers, Vary: "Origin" };
  const vary = [headers[name] ?? []].flat().join(", ");
  const isCovered = vary.split(",").some((field) => /^(?:\*|origin)$/i.test(field.trim()));
  return isCovered ? { ...headers } : { ...headers, [name]: vary === "" ? "Origin" : `${vary}, Origin` };
}

/** A header's name in the reply's own case. */
function headerNamed(headers: Reply["headers"], lowerCaseName: string): string | undefined {
  for (const name in headers) if (name.toLowerCase() === lowerCaseName) return name;
  return undefined;
}

/** The problem with an origin in the list; none if browsers send it in this form as `Origin`. */
function originFaults(origin: unknown, index: number): OptionProblem[] {
  const text = whyNoOrigin(origin);
  return text === null ? [] : [{ path: `.origins.${index}`, text }];
}

function whyNoOrigin(origin: unknown): string | null {
  if (origin === "null") return null;
  if (origin === "*") return 'is not an origin: to allow all, set origins to "*" instead of a list';
  const url = typeof origin === "string" ? parsedUrl(origin) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return "is not an origin, such as https://example.com";
  if (url.origin === origin) return null;
  return `must be written as browsers do, without path or slash at the end: ${JSON.stringify(url.origin)}`;
}

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];
const REFUSAL =
  "A browser sent this request from a page of another origin, which this service does not permit. (The option cors lists permitted origins.)";

export interface CrossSiteOptions {
  /** Its host is the service's own, also if a proxy hides it. */
  publicUrl: string | null;
  cors: CorsOptions | undefined;
  /** Whether to allow the origin `null`, which browsers send from pages with `Referrer-Policy: no-referrer`. */
  allowsNull: boolean;
}

/**
 * Why a request must be refused as forged by a page of another origin; `null` if it is allowed. A browser adds the
 * user's cookies to such a request, so they prove nothing about the user's intent. Browsers declare the origin in
 * `Sec-Fetch-Site` and `Origin`, which pages cannot change. Programs send neither.
 */
export function crossSiteRefusal(
  { method, headers, origin: ownOrigin }: Call,
  { publicUrl, cors, allowsNull }: CrossSiteOptions,
): string | null {
  if (SAFE_METHODS.includes(method)) return null;
  const { origin, "sec-fetch-site": site, cookie } = headers;
  // `none`: the user's own act, such as a reload.
  if (site === "same-origin" || site === "none") return null;
  if (origin !== undefined && isListed(origin, cookie, cors)) return null;
  // Older browsers, and all without TLS, send `Origin` alone.
  if (site !== undefined) return REFUSAL;
  if (origin === undefined || (origin === "null" && allowsNull)) return null;
  // Hosts alone are compared: a proxy that ends TLS may hide the protocol from the host framework.
  const host = hostOf(origin);
  const isOwn = host !== null && [ownOrigin, publicUrl].some((own) => hostOf(own) === host);
  return isOwn ? null : REFUSAL;
}

/** `"*"` permits no credentials: with it, a request with cookies does not come from a script that may read the reply. */
function isListed(origin: string, cookie: string | undefined, cors: CorsOptions | undefined): boolean {
  if (cors === undefined) return false;
  return cors.origins === "*" ? cookie === undefined : cors.origins.includes(origin);
}

/** The host with its port; `null` for an opaque origin (`null`). */
function hostOf(url: string | null): string | null {
  return url === null ? null : (parsedUrl(url)?.host ?? null);
}
