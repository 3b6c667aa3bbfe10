import type { IncomingMessage } from "node:http";
import { rules } from "@outrigger/core/stores";

const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i;

/**
 * Converts a request target (RFC 9112 §3.2) to the origin form `/path?query`. It decodes and collapses nothing:
 * `//` and `%2e%2e` stay unchanged.
 *
 * @returns `null` for the asterisk form, which addresses the server as a whole.
 */
export function toOriginForm(target: string): string | null {
  if (target.charCodeAt(0) === 0x2f) return target;
  if (target === "*") return null;
  const rest = target.replace(ABSOLUTE_FORM, "");
  return rest.charCodeAt(0) === 0x2f ? rest : `/${rest}`;
}

/**
 * The host that a request names in another way than by one `Host` line. `undefined`: the `Host` header decides.
 *
 * The authority of a target in absolute form wins over `Host` (RFC 9112 §3.2.2). Several `Host` lines, of which Node drops
 * all but the first, are joined by `, `, which is no valid host (RFC 9112 §3.2). So are an `:authority` of HTTP/2 and a `Host`
 * that differs from it (RFC 9113 §8.3.1).
 */
export function unusualHost({
  url = "/",
  rawHeaders,
  httpVersionMajor,
}: IncomingMessage): string | undefined {
  const hosts: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name === ":authority" || (name?.length === 4 && name.toLowerCase() === "host"))
      hosts.push(rawHeaders[at + 1] ?? "");
  }
  const written = hosts.join(", ");
  if (httpVersionMajor >= 2) return hosts.some((host) => host !== hosts[0]) ? written : undefined;
  if (hosts.length > 1) return written;
  const authority = url.charCodeAt(0) === 0x2f ? undefined : ABSOLUTE_FORM.exec(url)?.[1];
  // Koa drops a login and a second name.
  return authority ?? (/[@,]/.test(written) ? written : undefined);
}

/** Whether a request has several `Host` lines, which RFC 9112 §3.2 requires to be answered with 400. */
export function hasSeveralHosts(req: IncomingMessage): boolean {
  return unusualHost(req)?.includes(",") ?? false;
}

/**
 * Returns the part of an origin-form target below `prefix`.
 *
 * @param prefix A path without a trailing slash; empty for the root.
 * @returns A target that begins with `/`; `null` if the given target is not below the prefix.
 */
export function stripPrefix(target: string, prefix: string): string | null {
  if (prefix === "") return target;
  if (!target.startsWith(prefix)) return null;
  const rest = target.slice(prefix.length);
  const next = rest.charCodeAt(0);
  if (next === 0x2f) return rest;
  // NaN: end of the target. 0x3f: start of the query.
  return Number.isNaN(next) || next === 0x3f ? `/${rest}` : null;
}

/** Rule of a path below which a service is mounted. */
export const pathRule = rules.text('a path that begins with "/", such as "/img"', (path) =>
  /^(?:\/[^?#*]*)?$/.test(path),
);

/** Rule of the options `prefix` and `mountPath`. */
export const mountPathRule = rules.preset("", pathRule);

/** Removes the trailing slash of a mount path; empty for the root. */
export function normaliseMountPath(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** Where a request belongs: its target below the mount point, and the mount point. */
export interface MountedTarget {
  url: string;
  mountPath: string;
}

/**
 * Finds the place of a request, whether the framework has removed a prefix from its target or not.
 *
 * @param url The current request target.
 * @param originalUrl The target as received. Frameworks that remove prefixes keep it.
 * @param prefix The path of the service without a trailing slash, from the root or below the removed prefix.
 * @returns `null` if the request is not below the prefix.
 */
export function locate(url: string, originalUrl: string, prefix: string): MountedTarget | null {
  const target = toOriginForm(url);
  if (target === null) return null;
  const original = toOriginForm(originalUrl) ?? "/";
  const outer = url === originalUrl ? "" : removedPrefix(pathOf(target), pathOf(original));
  if (outer !== "" && stripPrefix(prefix, outer) !== null) {
    const below = stripPrefix(original, prefix);
    return below === null ? null : { url: below, mountPath: prefix };
  }
  const below = stripPrefix(target, prefix);
  return below === null ? null : { url: below, mountPath: outer + prefix };
}

/** The prefix that was removed from `original` to give `path`; empty if `path` is not its end. */
function removedPrefix(path: string, original: string): string {
  // Of /img, / is left.
  const whole = path === "/" && !original.endsWith("/") ? `${original}/` : original;
  return whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : "";
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}
