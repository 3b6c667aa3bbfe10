import type { IncomingHttpHeaders } from "node:http";
import { isIP, isIPv4, isIPv6 } from "node:net";
import type { Call } from "../contracts/call.ts";
import { ServiceError } from "../errors.ts";
import { oneOf, preset } from "../option-rules.ts";

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
  if (isIPv4(address)) return address;
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

/** How much of a client's address the log has: all, its network, or nothing. */
export type LoggedClients = "full" | "network" | "none";

/**
 * A client's address for the log: as {@link clientAddress}, or its network, the /24 of IPv4 and the /48 of IPv6. `undefined`: it is
 * not logged, or is not an address.
 */
export function loggedClient(address: string, logged: LoggedClients): string | undefined {
  const plain = logged === "none" ? null : clientAddress(address);
  if (plain === null) return undefined;
  if (logged === "full") return plain;
  return isIPv4(plain) ? plain.replace(/\d+$/, "0/24") : `${plain.split(":", 3).join(":")}::/48`;
}

function bareAddress(text: string): string | null {
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

/**
 * Which connections need TLS. `required` exempts a loopback peer that is not a proxy, for development;
 * `always` exempts none; `off` leaves TLS to another component.
 */
export type TlsPolicy = "required" | "always" | "off";

/** The rule of the option `tls`. */
export const TLS_RULE = preset("required", oneOf("required", "always", "off"));

const PLAIN_HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$/;

/** The refusal of a request because of its host or its connection; `null` if both are allowed. */
export function connectionRefusal(
  call: Call,
  { tls, allowedHosts }: { tls: TlsPolicy; allowedHosts: ReadonlySet<string> | null },
): ServiceError | null {
  // RFC 9112 §3.2. Also, without an origin there are no absolute URLs. The pattern is a fast path for most hosts.
  if (!PLAIN_HOST.test(call.headers.host ?? "") && call.origin === "") {
    return new ServiceError("bad_request", hostRefusal(call) ?? "The Host header is missing or malformed");
  }
  if (allowedHosts !== null && !allowedHosts.has(call.origin.replace(/^\w+:\/\//, "").toLowerCase())) {
    return new ServiceError("bad_request", "This host is not served here");
  }
  const reason = transportRefusal(call, tls);
  return reason === null ? null : new ServiceError("forbidden", reason);
}

/** Why the request must be rejected on this connection; `null` if it is allowed. */
export function transportRefusal(call: Call, policy: TlsPolicy): string | null {
  if (policy === "off") return null;
  if (policy === "required" && LOOPBACK.test(call.peerIp) && !isForwarded(call)) return null;
  if (call.secure) return null;
  return 'SSL is required: use https://. (Behind a proxy that ends TLS, the host app must trust that proxy: "trust proxy" in Express, app.proxy in Koa, view of nodeListener, isSecure of toFetchHandler; or else set tls: "off".)';
}

/** The text for a request with several `Host` lines, which adapters join (RFC 9112 §3.2); `null` for any other. */
export function hostRefusal({ headers }: Call): string | null {
  return headers.host?.includes(",") ? "A request must have one Host header" : null;
}

const LOOPBACK = /^(?:::1$|(?:::ffff:)?127\.)/;

function isForwarded({ headers }: Call): boolean {
  if (headers.forwarded !== undefined || headers.via !== undefined) return true;
  for (const name in headers) if (name.startsWith("x-forwarded-")) return true;
  return false;
}

/** Headers in which proxies forward the client's address. */
const FORWARDING = ["x-forwarded-for", "forwarded", "x-real-ip", "cf-connecting-ip", "true-client-ip"];

/**
 * Detects requests that were forwarded by a proxy which the host framework does not trust, so that the proxy
 * counts as the client.
 *
 * @param warn receives the header's name, once, at the first such request.
 */
export function watchForProxy(warn: (header: string) => void): (call: Call) => void {
  let hasWarned = false;
  return (call) => {
    if (hasWarned) return;
    const { headers } = call;
    const header = forwardingHeader(headers);
    if (header === undefined || call.clientIp !== call.peerIp) return;
    // The request is the proxy's own, e.g. its health check.
    if (String(headers[header]).includes(call.peerIp)) return;
    hasWarned = true;
    warn(header);
  };
}

/** A loop: it runs for every read. */
function forwardingHeader(headers: IncomingHttpHeaders): string | undefined {
  for (const name of FORWARDING) if (headers[name] !== undefined) return name;
  return undefined;
}

/** The warning, with the setting to change. */
export const UNTRUSTED_PROXY_WARNING =
  "A request has a forwarding header, but the host app does not trust the proxy that sent it. " +
  "Behind a proxy that is not trusted all users count as one client for limits and budgets. " +
  "Express: set `trust proxy`. Koa: set `app.proxy`. outrigger serve: set `trustProxy`. " +
  "Each of them reads X-Forwarded-For. Without a proxy, a client made the header up: ignore this warning.";
