/** A host that takes a domain's mail, as the DNS names it. */
export interface MailHost {
  name: string;
  /** IP addresses as text, IPv4 first. Not checked. */
  addresses: string[];
}

/** Where a domain's mail goes. */
export type MailRoute =
  /** `hosts` may be empty: those that there are cannot be used by their name. */
  { routing: "found"; hosts: MailHost[] } | { routing: "none" | "null_mx" | "unknown" };

/** Reads what a cache gave back, which others may write to. */
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
