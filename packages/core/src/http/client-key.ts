import { isIP, isIPv4, isIPv6 } from "node:net";

/** One key for all clients without a valid address, so that an invented address does not bring fresh limits. */
const UNKNOWN = "unknown";
/** Longer than any address with port, zone and notation. */
const MAX_LENGTH = 128;
const PORT = /^(?::[\w.-]*)?$/;

/**
 * One key per client for rate limits. An IPv4 address is its own key, also when written as IPv6. An IPv6
 * address counts by its /64, since one subscriber owns the whole /64.
 * @param address As the host framework sees it: a proxy may have added a port.
 */
export function clientKey(address: string): string {
  const plain = clientAddress(address);
  if (plain === null) return UNKNOWN;
  return isIPv4(plain) ? plain : `${plain.split(":", 4).join(":")}::/64`;
}

/**
 * The network above a client: the /48 of an IPv6 client, else the client itself. `null` for a name that
 * {@link clientKey} does not return, such as an owner's.
 */
export function networkKey(client: string): string | null {
  if (client === UNKNOWN || isIPv4(client)) return client;
  return client.endsWith("::/64") && !client.includes(" ") ? `${client.split(":", 3).join(":")}::/48` : null;
}

/**
 * The IP address in the text of a proxy, without port, zone, brackets, and the quotes and `for=` of `Forwarded` (RFC
 * 7239 §6). An IPv6 address gets eight groups, so each address has one spelling. `null`: there is none.
 */
export function clientAddress(text: string): string | null {
  const bare = bareAddress(text);
  if (bare === null || isIPv4(bare)) return bare;
  const groups = ipv6Groups(bare);
  return embeddedIPv4(groups) ?? groups.map((group) => group.toString(16)).join(":");
}

function bareAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  if (text.length > MAX_LENGTH) return null;
  const [node = ""] = text.replace(/^\s*for\s*=/i, "").split(";", 1);
  const written = node.replaceAll('"', "").trim();
  if (written.startsWith("[")) {
    const end = written.indexOf("]");
    const address = withoutZone(written.slice(1, end));
    return end !== -1 && isIPv6(address) && PORT.test(written.slice(end + 1)) ? address : null;
  }
  const whole = withoutZone(written);
  if (isIP(whole) !== 0) return whole;
  const colon = written.lastIndexOf(":");
  const address = withoutZone(written.slice(0, Math.max(0, colon)));
  return isIP(address) !== 0 && PORT.test(written.slice(colon)) ? address : null;
}

function withoutZone(address: string): string {
  const [bare = ""] = address.split("%", 1);
  return bare;
}

/** The IPv4 address in an IPv4-mapped address, or in one of the translation prefix 64:ff9b::/96 (RFC 6052). */
function embeddedIPv4(groups: readonly number[]): string | null {
  const prefix = groups.slice(0, 6).map((group) => group.toString(16));
  if (!["0:0:0:0:0:ffff", "64:ff9b:0:0:0:0"].includes(prefix.join(":"))) return null;
  const [high = 0, low = 0] = groups.slice(6);
  return ipv4Text(high, low);
}

/** An IPv4 address of two 16-bit groups, in dotted form. */
export function ipv4Text(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** The eight 16-bit groups of a valid IPv6 address without a zone. */
export function ipv6Groups(address: string): number[] {
  // The URL parser writes every form, also with a dotted IPv4 tail, as compressed hexadecimal groups (RFC
  // 5952).
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
}
