export const OPERATIONS = [
  "domain-search",
  "email-finder",
  "email-verifier",
  "email-count",
  "account",
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The route of a path below the lookup's mount point. */
export function lookupRouteOf(path: string): string | undefined {
  const operation = matchLookupAddress(path);
  return operation === undefined ? undefined : `/v2/${operation === "unknown" ? "*" : operation}`;
}

/** `undefined`: not ours; `unknown`: nothing is there. One trailing slash does not matter. */
export function matchLookupAddress(path: string): Operation | "unknown" | undefined {
  const [, rest] = /^\/v2(?:\/(.*))?$/.exec(path) ?? [];
  if (rest === undefined) return path === "/v2" ? "unknown" : undefined;
  const name = rest.endsWith("/") ? rest.slice(0, -1) : rest;
  return OPERATIONS.find((operation) => operation === name) ?? "unknown";
}
