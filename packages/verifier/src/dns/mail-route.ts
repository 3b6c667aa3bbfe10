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

/** A host name with one of its addresses. */
export interface HostAddress {
  name: string;
  address: string;
}

/**
 * The first address of each host, then the second ones: a host that is down is usually down at all its
 * addresses.
 */
export function inOrderOfTrial(hosts: readonly MailHost[]): HostAddress[] {
  const most = Math.max(0, ...hosts.map(({ addresses }) => addresses.length));
  return Array.from({ length: most }, (_, index) =>
    hosts.flatMap(({ name, addresses }) => {
      const address = addresses[index];
      return address === undefined ? [] : [{ name, address }];
    }),
  ).flat();
}

/** Puts the given address first: the host that greylisted has recorded this sender. */
export function withFirst(hosts: readonly HostAddress[], address: string | undefined): HostAddress[] {
  const first = hosts.filter((host) => host.address === address);
  return [...first, ...hosts.filter((host) => host.address !== address)];
}
