/** A host that accepts a domain's mail according to the DNS. */
export interface MailHost {
  name: string;
  /** IP addresses as text, IPv4 first. Not yet checked against forbidden addresses. Empty: the DNS did not tell them. */
  addresses: string[];
  /** Whether its preference equals that of the host before it. @default false */
  isEqual?: true;
}

/** The mail route of a domain. */
export type MailRoute =
  /** `hosts`: in order of preference; empty if no host has a valid name. */
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
  const isEqual = "isEqual" in value && value.isEqual === true;
  const isSound = addresses.every((address) => typeof address === "string");
  return isSound ? { name, addresses, ...(isEqual && { isEqual }) } : undefined;
}

/** A host name with one of its addresses. */
export interface HostAddress {
  name: string;
  address: string;
  /** 0 for the hosts of the best preference, 1 for those of the next. */
  rank: number;
}

/** The rank of each host, see {@link HostAddress}. */
export function ranksOf(hosts: readonly MailHost[]): number[] {
  let rank = -1;
  return hosts.map(({ isEqual }) => (isEqual === true ? rank : ++rank));
}

/**
 * The first address of each host, then the second ones: a host that is down is usually down at all its
 * addresses.
 */
export function inOrderOfTrial(hosts: readonly MailHost[]): HostAddress[] {
  const ranks = ranksOf(hosts);
  const most = Math.max(0, ...hosts.map(({ addresses }) => addresses.length));
  return Array.from({ length: most }, (_, index) =>
    hosts.flatMap(({ name, addresses }, nth) => {
      const address = addresses[index];
      return address === undefined ? [] : [{ name, address, rank: ranks[nth] ?? 0 }];
    }),
  ).flat();
}

/** Puts the given address first: the host that greylisted has recorded this sender. */
export function withFirst(hosts: readonly HostAddress[], address: string | undefined): HostAddress[] {
  const first = hosts.filter((host) => host.address === address);
  return [...first, ...hosts.filter((host) => host.address !== address)];
}
