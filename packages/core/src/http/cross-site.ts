import type { Call } from "../contracts/call.ts";
import type { CorsOptions } from "./cors.ts";

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
  return url !== null && URL.canParse(url) ? new URL(url).host : null;
}
