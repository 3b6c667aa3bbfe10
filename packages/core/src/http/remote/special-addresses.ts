import { BlockList, isIP, isIPv6 } from "node:net";
import { ipv4Text, ipv6Groups } from "../client.ts";

/**
 * Ranges outside the public internet that an operator may allow, by IANA's registries of special-purpose addresses. IPv6
 * addresses that contain an IPv4 address are judged by {@link isForbidden}.
 */
const SPECIAL_RANGES = [
  "0.0.0.0/8", // This network; 0.0.0.0 is this host.
  "10.0.0.0/8",
  "100.64.0.0/10", // Carrier-grade NAT.
  "127.0.0.0/8",
  "168.63.129.16/32", // The host of an Azure machine, with its metadata.
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
  "2001::/23", // Protocol assignments: Teredo, ORCHID, benchmarks, AS112.
  "2001:db8::/32", // Documentation.
  "2002::/16", // 6to4.
  "2620:4f:8000::/48", // AS112.
  "3fff::/20", // Documentation.
  "4000::/2", // No global address from here on: unique local, link-local, site-local, multicast.
  "8000::/1",
] as const;

/** Ranges in which only the IPv4 address inside counts, so that IPv6-only hosts with NAT64 reach the public internet. */
const TRANSLATED: ReadonlySet<string> = new Set(["64:ff9b::/96", "2002::/16"]);

/**
 * The rest of what lies outside IANA's global unicast range, 2000::/3: first and last addresses. They leave out IPv4-translated
 * addresses, and IPv4-mapped ones, because a `BlockList` would read a range that includes these as all of IPv4.
 */
const UNASSIGNED = [
  ["::1:0:0", "::fffe:ffff:ffff"],
  ["::1:0:0:0", "::fffe:ffff:ffff:ffff"],
  ["::ffff:1:0:0", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["64:ff9b::1:0:0", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff"],
  ["64:ff9b:2::", "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["200::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
] as const;

/** The first address after Teredo's 2001::/32, and the last of 2001::/23. */
const ASSIGNMENTS = ["2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"] as const;

/**
 * All addresses outside the public internet: private, loopback, link-local, CGNAT, multicast, documentation, metadata,
 * unspecified, reserved, and every IPv6 address outside 2000::/3. Pass the list to {@link isForbidden}, which also judges the
 * IPv4 address within an IPv6 address: `check` of the list does not.
 * @param except Ranges of that list, such as `"10.0.0.0/8"`, to allow: those of your own hosts.
 */
export function specialAddresses(except: readonly string[] = []): BlockList {
  const unknown = except.find((range) => !SPECIAL_RANGES.some((known) => known === range));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not one of ${SPECIAL_RANGES.join(", ")}.`);
  const list = new BlockList();
  for (const [first, last] of UNASSIGNED) list.addRange(first, last, "ipv6");
  for (const range of SPECIAL_RANGES) {
    if (except.includes(range) || TRANSLATED.has(range)) continue;
    const [network = "", length] = range.split("/");
    if (range === "2001::/23") list.addRange(...ASSIGNMENTS, "ipv6");
    else list.addSubnet(network, Number(length), isIPv6(network) ? "ipv6" : "ipv4");
  }
  return list;
}

/**
 * Whether an address must not be contacted: the list contains it, or an IPv4 address within it. A text that is not an
 * address is forbidden, and so is an address with a zone, which is local to the machine.
 */
export function isForbidden(list: BlockList, address: string): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes("%")) return true;
  if (family === 4) return list.check(address, "ipv4");
  return ipv4Within(address).some((inner) => list.check(inner, "ipv4")) || list.check(address, "ipv6");
}

/**
 * The IPv4 addresses that a packet to an IPv6 address may reach: IPv4-mapped (RFC 4291 §2.5.5.2) and -translated (RFC 2765
 * §2.1), NAT64 (RFC 6052), 6to4 (RFC 3056), Teredo's server and client (RFC 4380 §4), and ISATAP under any prefix (RFC 5214
 * §6.1, with either universal bit).
 */
function ipv4Within(address: string): string[] {
  const groups = ipv6Groups(address);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const prefix = groups.slice(0, 6).join(":");
  const found: string[] = [];
  const isTranslated = ["0:0:0:0:0:65535", "0:0:0:0:65535:0", `${0x64}:${0xff9b}:0:0:0:0`].includes(prefix);
  const isIsatap = (e & ~0x300) === 0 && f === 0x5efe;
  if (isTranslated || isIsatap) found.push(ipv4Text(g, h));
  if (a === 0x2002) found.push(ipv4Text(b, c));
  if (a === 0x2001 && b === 0) found.push(ipv4Text(c, d), ipv4Text(g ^ 0xffff, h ^ 0xffff));
  return found;
}
