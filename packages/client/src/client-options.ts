import { isBrowser } from "./is-browser.ts";
import { VERSION } from "./version.ts";
import { MAX_TIMER_MS } from "./waiting.ts";

/** Options that both clients share. */
export interface ClientOptions {
  /** Absolute URL of the mount point, e.g. `https://example.com/img`. */
  baseUrl: string;
  /** The User-Agent, e.g. `"my-app/1.2"`: its first product is shown with uploads. Browsers send their own. @default "outrigger-client/<version>" */
  userAgent?: string | undefined;
  /** Sent with every request, e.g. `Authorization` for the host app. @default none */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Does all requests. With one of your own a browser tells the progress of uploads only at their end. @default globalThis.fetch */
  fetch?: typeof fetch | undefined;
  /**
   * How often a request is repeated after 429 and 503, as `Retry-After` says, and after failures of the network (502 and 504
   * of a proxy among them). @default 4
   */
  maxRetries?: number | undefined;
  /** The longest `Retry-After` that is waited for, in milliseconds; for a longer one a call rejects at once. @default 60000 */
  maxRetryAfterMs?: number | undefined;
}

/** The options with their defaults filled in. */
export interface ClientSettings {
  /** Without a slash at its end. */
  baseUrl: string;
  headers: Headers;
  fetch: typeof fetch;
  /** Whether `fetch` is the caller's own. */
  hasOwnFetch: boolean;
  maxRetries: number;
  maxRetryAfterMs: number;
}

/** Fills in the defaults; throws a TypeError that names the option which is out of range. */
export function clientSettings(options: ClientOptions): ClientSettings {
  const { fetch: ownFetch, maxRetries = 4, maxRetryAfterMs = 60_000 } = options;
  if (!Number.isSafeInteger(maxRetries) || maxRetries < 0) {
    throw new TypeError("maxRetries must be a whole number from 0");
  }
  if (typeof maxRetryAfterMs !== "number" || !(maxRetryAfterMs >= 0)) {
    throw new TypeError("maxRetryAfterMs must be a number from 0");
  }
  return {
    baseUrl: mountPoint(options.baseUrl),
    headers: commonHeaders(options),
    // Looked up with each request, and called as browsers want it: as a method of nothing.
    fetch: ownFetch ?? ((input, init) => globalThis.fetch(input, init)),
    hasOwnFetch: ownFetch !== undefined,
    maxRetries,
    maxRetryAfterMs: Math.min(maxRetryAfterMs, MAX_TIMER_MS),
  };
}

function mountPoint(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError("baseUrl must be an absolute URL, such as https://example.com/img");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl must have no user, query or fragment");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function commonHeaders({ headers = {}, userAgent }: ClientOptions): Headers {
  // Throws a TypeError for names and values that no header can have.
  const all = new Headers(headers);
  if (userAgent !== undefined && !/^[!-~](?:[ -~]*[!-~])?$/.test(userAgent)) {
    throw new TypeError("userAgent must be ASCII text, such as my-app/1.2");
  }
  if (isBrowser()) return all;
  if (userAgent !== undefined || !all.has("User-Agent")) {
    all.set("User-Agent", userAgent ?? `outrigger-client/${VERSION}`);
  }
  return all;
}
