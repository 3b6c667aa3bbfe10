/** A host that accepts a domain's mail according to the DNS. */
export interface MailHost {
  name: string;
  /** IP addresses as text, IPv4 first. Not yet checked against forbidden addresses. */
  addresses: string[];
}

/** The mail route of a domain. */
export type MailRoute =
  /** `hosts` is empty if no host has a valid name. */
  | { routing: "found"; hosts: MailHost[] }
  | { routing: "none" | "null_mx" }
  | { routing: "unknown"; reason: "dns_failure" | "dns_untrusted" };

/** Validates a cached route: other software may write to the cache. `undefined` for an invalid one. */
export function readMailRoute(value: unknown): MailRoute | undefined {
  if (typeof value !== "object" || value === null || !("routing" in value)) return undefined;
  if (value.routing === "none" || value.routing === "null_mx") return { routing: value.routing };
  if (value.routing !== "found" || !("hosts" in value) || !Array.isArray(value.hosts)) return undefined;
  const hosts = value.hosts.map(readHost);
  return hosts.every((host) => host !== undefined) ? { routing: "found", hosts } : undefined;
}

function readHost(value: unknown): MailHost | undefined {
  if (typeof value !== "object" || value === null || !("name" in value) || !("addresses" in value)) {
    return undefined;
  }
  const { name, addresses } = value;
  if (typeof name !== "string" || !Array.isArray(addresses)) return undefined;
  return addresses.every((address) => typeof address === "string") ? { name, addresses } : undefined;
}
