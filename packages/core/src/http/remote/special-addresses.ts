import { BlockList, isIP } from "node:net";

/**
 * Addresses outside the public internet, by IANA's registries of special-purpose addresses. The list contains every
 * form of an IPv4 address within an IPv6 address, because a translated address may lead anywhere. IPv4-mapped
 * addresses need no entry: a `BlockList` applies the IPv4 entries to them, and would read `::ffff:0:0/96` or a
 * wider range as all of IPv4.
 */
const SPECIAL_RANGES = [
  "0.0.0.0/8", // This network; 0.0.0.0 is this host.
  "10.0.0.0/8",
  "100.64.0.0/10", // Carrier-grade NAT.
  "127.0.0.0/8",
  "169.254.0.0/16", // Link-local, with the clouds' metadata.
  "172.16.0.0/12",
  "192.0.0.0/24", // Protocol assignments.
  "192.0.2.0/24", // Documentation, and the two below.
  "192.31.196.0/24", // AS112.
  "192.52.193.0/24", // AMT.
  "192.88.99.0/24", // 6to4 relays.
  "192.168.0.0/16",
  "192.175.48.0/24", // AS112.
  "198.18.0.0/15", // Benchmarks.
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4", // Multicast.
  "240.0.0.0/4", // Reserved, and broadcast.
  "::/96", // Unspecified, loopback, and IPv4-compatible.
  "64:ff9b::/96", // NAT64.
  "64:ff9b:1::/48", // Local NAT64.
  "100::/8", // Discard.
  "2001::/23", // Protocol assignments: Teredo, ORCHID, benchmarks.
  "2001:db8::/32", // Documentation.
  "2002::/16", // 6to4.
  "3fff::/20", // Documentation.
  "4000::/2", // No global address from here on: unique local, link-local, site-local, multicast.
  "8000::/1",
] as const;

/**
 * All addresses outside the public internet: private, loopback, link-local, CGNAT, multicast, documentation, IPv4
 * within IPv6, unspecified and reserved addresses.
 * @param except Ranges of that list, such as `"10.0.0.0/8"`, to allow: those of your own hosts.
 */
export function specialAddresses(except: readonly string[] = []): BlockList {
  const unknown = except.find((range) => !SPECIAL_RANGES.some((known) => known === range));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not one of ${SPECIAL_RANGES.join(", ")}.`);
  const list = new BlockList();
  for (const range of SPECIAL_RANGES) {
    if (except.includes(range)) continue;
    const [network = "", length] = range.split("/");
    list.addSubnet(network, Number(length), isIP(network) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

/** Whether an address must not be contacted. A text that is not an address is forbidden. */
export function isForbidden(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family === 0 || list.check(address, family === 4 ? "ipv4" : "ipv6");
}
