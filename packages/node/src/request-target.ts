import { rules } from "@outrigger/core/stores";

const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/**
 * Converts a request target (RFC 9112 §3.2) to the origin form `/path?query`. It decodes and collapses
 * nothing: `//` and
 * `%2e%2e` stay unchanged.
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

/** Rule of the options `prefix` and `mountPath`. */
export const mountPathRule = rules.preset(
  "",
  rules.text('a path that begins with "/", such as "/img"', (path) => /^(?:\/[^?#*]*)?$/.test(path)),
);

/** Removes the trailing slash of a mount path; empty for the root. */
export function normaliseMountPath(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
