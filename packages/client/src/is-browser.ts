/**
 * Whether this is a page or a worker of a browser: there a request body cannot be streamed over HTTP/1.1, and a User-Agent of
 * one's own needs a permission that the service does not give.
 */
export function isBrowser(): boolean {
  return typeof navigator !== "undefined" && /^Mozilla\//.test(navigator.userAgent ?? "");
}
