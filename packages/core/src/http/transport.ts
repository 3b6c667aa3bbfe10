import type { Call } from "../contracts/call.ts";

/**
 * Which connections need TLS. `required` exempts a loopback peer that is not a proxy, for development;
 * `always` exempts none; `off` leaves TLS to another component.
 */
export type TlsPolicy = "required" | "always" | "off";

/** Why the request must be rejected on this connection; `null` if it is allowed. */
export function transportRefusal(call: Call, policy: TlsPolicy): string | null {
  if (policy === "off") return null;
  if (policy === "required" && isLoopback(call.peerIp) && !isForwarded(call)) return null;
  if (call.secure) return null;
  return "SSL is required: use https://. (Behind a proxy that ends TLS, the host app must trust that proxy.)";
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
