import { isIPv6 } from "node:net";

/**
 * One key per client for rate limits. An IPv4 address is its own key, also when written as IPv6. An IPv6
 * address counts by its /64, since one subscriber owns the whole /64.
 */
export function clientKey(address: string): string {
  if (!address.includes(":")) return address;
  const [bare = ""] = address.split("%");
  if (!isIPv6(bare)) return address;
  const groups = expand(bare);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6);
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/** The eight 16-bit groups of a valid IPv6 address. */
function expand(address: string): number[] {
  // The URL parser writes every form, also with a dotted IPv4 tail, as compressed hexadecimal groups (RFC
  // 5952).
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}
