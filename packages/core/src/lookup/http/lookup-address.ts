export const OPERATIONS = [
  "domain-search",
  "email-finder",
  "email-verifier",
  "email-count",
  "account",
] as const;
export type Operation = (typeof OPERATIONS)[number];

const DESCRIPTION = "/api/openapi.json";

/** The route of a path below the lookup's mount point. */
export function lookupRouteOf(path: string): string | undefined {
  const operation = matchLookupAddress(path);
  if (operation === undefined || operation === "description") return operation && DESCRIPTION;
  return `/v2/${operation === "unknown" ? "*" : operation}`;
}

/** What an address below the mount point names: `unknown` where nothing is there. */
export type LookupAddress = Operation | "description" | "unknown";

/** `undefined`: not ours. One trailing slash does not matter. */
export function matchLookupAddress(path: string): LookupAddress | undefined {
  if (path === DESCRIPTION) return "description";
  const [, rest] = /^\/v2(?:\/(.*))?$/.exec(path) ?? [];
  if (rest === undefined) return path === "/v2" ? "unknown" : undefined;
  const name = rest.endsWith("/") ? rest.slice(0, -1) : rest;
  return OPERATIONS.find((operation) => operation === name) ?? "unknown";
}
