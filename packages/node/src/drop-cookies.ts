import type { ServerResponse } from "node:http";

/**
 * Removes `Set-Cookie` from a reply that shared caches may store, whose other headers are set. `Set-Cookie` does not stop such a
 * cache (RFC 9111 §7.3): it would send the cookie of one client to others. A reply that is `private` or `no-store` keeps it.
 */
export function dropCookies(res: ServerResponse): void {
  if (!res.hasHeader("Set-Cookie")) return;
  const caching = res.getHeader("Cache-Control");
  if (caching !== undefined && !/\b(?:private|no-store)\b/i.test(String(caching)))
    res.removeHeader("Set-Cookie");
}

/**
 * Like {@link dropCookies}, once the head is written, for middleware that sets a cookie only then: sessions do so in a `writeHead`
 * of their own, or in Koa after this adapter has returned.
 */
export function dropLateCookies(res: ServerResponse): void {
  // Both run after every such `writeHead`, which is on the way to them.
  const [writer, name] =
    res.req.httpVersionMajor < 2 ? [res, "_storeHeader"] : [Object(Reflect.get(res, "stream")), "respond"];
  const write: unknown = Reflect.get(writer, name);
  if (typeof write !== "function") return;
  Reflect.set(writer, name, (...given: unknown[]): unknown => {
    dropCookies(res);
    return Reflect.apply(write, writer, given);
  });
}
