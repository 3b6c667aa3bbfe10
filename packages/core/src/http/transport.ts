import type { IncomingHttpHeaders } from "node:http";
import type { Call } from "../contracts/call.ts";
import { ServiceError } from "../errors.ts";

/**
 * Which connections need TLS. `required` exempts a loopback peer that is not a proxy, for development;
 * `always` exempts none; `off` leaves TLS to another component.
 */
export type TlsPolicy = "required" | "always" | "off";

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
  if (policy === "required" && isLoopback(call.peerIp) && !isForwarded(call)) return null;
  if (call.secure) return null;
  return 'SSL is required: use https://. (Behind a proxy that ends TLS, the host app must trust that proxy: "trust proxy" in Express, app.proxy in Koa, view of nodeListener, isSecure of toFetchHandler; or else set tls: "off".)';
}

/** The text for a request with several `Host` lines, which adapters join (RFC 9112 §3.2); `null` for any other. */
export function hostRefusal({ headers }: Call): string | null {
  return headers.host?.includes(",") ? "A request must have one Host header" : null;
}

function isLoopback(address: string): boolean {
  return address === "127.0.0.1" || address === "::1" || /^(::ffff:)?127\./.test(address);
}

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
  "Behind a proxy that is not trusted all users count as one client for limits, turns and budgets. " +
  "Express: set `trust proxy`. Koa: set `app.proxy`. outrigger serve: set `trustProxy`. " +
  "Each of them reads X-Forwarded-For. Without a proxy, a client made the header up: ignore this warning.";
