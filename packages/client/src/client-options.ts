import { checkOptions, isObject, type OptionRules } from "./checks.ts";
import { VERSION } from "./version.ts";

/** Options that both clients share. */
export interface ClientOptions {
  /** Absolute URL of the mount point, e.g. `https://example.com/img`. */
  baseUrl: string;
  /**
   * The User-Agent, e.g. `"my-app/1.2"`: its first product is shown with uploads. Browsers send their own.
   * @default "outrigger-client/<version>"
   */
  userAgent?: string | undefined;
  /** Headers of every request, e.g. `Authorization` for the host app. @default none */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Function that sends all requests. With a custom one, browsers report upload progress only at the end. @default globalThis.fetch */
  fetch?: typeof fetch | undefined;
  /**
   * Most retries of a request: after 429 and 503 as `Retry-After` says, and after network failures, including a
   * proxy's 502 and 504.
   * @default 4
   */
  maxRetries?: number | undefined;
}

/** The options with their defaults filled in. `baseUrl` has no trailing slash. */
export interface ClientSettings {
  baseUrl: string;
  headers: Headers;
  fetch: typeof fetch;
  /** Whether the caller passed `fetch`. */
  hasOwnFetch: boolean;
  maxRetries: number;
}

/** Rules for {@link ClientOptions} only. */
export const CLIENT_RULES = {
  baseUrl: ["an absolute URL, such as https://example.com/img", isText],
  userAgent: [
    "ASCII text, such as my-app/1.2",
    (given) => isText(given) && /^[!-~](?:[ -~]*[!-~])?$/.test(given),
  ],
  headers: ["an object of headers", isObject],
  fetch: ["a function", (given) => typeof given === "function"],
  maxRetries: ["a whole number from 0", (given) => Number.isSafeInteger(given) && Number(given) >= 0],
} satisfies Record<keyof ClientOptions, OptionRules[string]>;

/**
 * Fills in the defaults; throws a TypeError that names an unknown or invalid option.
 * @param factory Name of the function with these options, for messages.
 */
export function clientSettings(factory: string, options: ClientOptions, rules: OptionRules): ClientSettings {
  checkOptions(factory, options, rules);
  const { fetch: ownFetch, maxRetries = 4 } = options;
  return {
    baseUrl: mountPoint(options.baseUrl),
    headers: commonHeaders(options),
    // Looked up for each request, and called without a receiver, as browsers require.
    fetch: ownFetch ?? ((input, init) => globalThis.fetch(input, init)),
    hasOwnFetch: ownFetch !== undefined,
    maxRetries,
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
  // Throws a TypeError for invalid names and values.
  const all = new Headers(headers);
  if (isBrowser()) return all;
  if (userAgent !== undefined || !all.has("User-Agent")) {
    all.set("User-Agent", userAgent ?? `outrigger-client/${VERSION}`);
  }
  return all;
}

/**
 * Whether this is a page or a worker of a browser. Browsers do not stream request bodies over HTTP/1.1, and a custom User-Agent
 * needs a CORS permission that the service does not grant.
 */
export function isBrowser(): boolean {
  return typeof navigator !== "undefined" && /^Mozilla\//.test(navigator.userAgent ?? "");
}
