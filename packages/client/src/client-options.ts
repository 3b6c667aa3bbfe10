import { checkOptions, type OptionRules } from "./check-options.ts";
import { isObject } from "./reply.ts";
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

/** Of {@link ClientOptions}, and of nothing else. */
export const CLIENT_RULES = {
  baseUrl: ["an absolute URL, such as https://example.com/img", isText],
  userAgent: [
    "ASCII text, such as my-app/1.2",
    (given) => isText(given) && /^[!-~](?:[ -~]*[!-~])?$/.test(given),
  ],
  headers: ["an object of headers", isObject],
  fetch: ["a function", (given) => typeof given === "function"],
  maxRetries: ["a whole number from 0", (given) => Number.isSafeInteger(given) && Number(given) >= 0],
  maxRetryAfterMs: ["a number from 0", (given) => typeof given === "number" && given >= 0],
} satisfies Record<keyof ClientOptions, OptionRules[string]>;

/**
 * Fills in the defaults; throws a TypeError that names the option which is unknown or out of range.
 * @param factory whose options they are, for messages.
 */
export function clientSettings(factory: string, options: ClientOptions, rules: OptionRules): ClientSettings {
  checkOptions(factory, options, rules);
  const { fetch: ownFetch, maxRetries = 4, maxRetryAfterMs = 60_000 } = options;
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

function isText(given: unknown): given is string {
  return typeof given === "string";
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
  if (isBrowser()) return all;
  if (userAgent !== undefined || !all.has("User-Agent")) {
    all.set("User-Agent", userAgent ?? `outrigger-client/${VERSION}`);
  }
  return all;
}

/**
 * Whether this is a page or a worker of a browser: there a request body cannot be streamed over HTTP/1.1, and a User-Agent of
 * one's own needs a permission that the service does not give.
 */
export function isBrowser(): boolean {
  return typeof navigator !== "undefined" && /^Mozilla\//.test(navigator.userAgent ?? "");
}
