import type { IncomingHttpHeaders } from "node:http";
import type { Call } from "../contracts/call.ts";

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
