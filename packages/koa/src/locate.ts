import { stripPrefix, toOriginForm } from "@outrigger/node";

/**
 * Where a request is, seen from the mount point.
 *
 * @param url The request target as it is now; `koa-mount` has taken its own prefix off.
 * @param originalUrl The request target as it came.
 * @param prefix What the adapter itself takes off.
 * @returns `null` when the request is not below the prefix.
 */
export function locate(
  url: string,
  originalUrl: string,
  prefix: string,
): { url: string; mountPath: string } | null {
  const target = toOriginForm(url);
  if (target === null) return null;
  const below = stripPrefix(target, prefix);
  if (below === null) return null;
  const outer =
    url === originalUrl ? "" : mountedAt(pathOf(target), pathOf(toOriginForm(originalUrl) ?? "/"));
  return { url: below, mountPath: outer + prefix };
}

/** What has been taken off the front of `original` to make it `path`; empty when it was rewritten otherwise. */
function mountedAt(path: string, original: string): string {
  // koa-mount makes /img into /.
  const whole = path === "/" && !original.endsWith("/") ? `${original}/` : original;
  return whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : "";
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}
