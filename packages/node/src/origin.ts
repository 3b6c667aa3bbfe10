// RFC 3986 §3.2.2 without percent-encoding, plus the underscore that container networks use in names.
const HOST = /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.~-]{1,253})(?::\d{1,5})?$/;

/**
 * `protocol://host`, or empty when `host` is not the grammar of a host: what a client wrote there ends up in links.
 */
export function formatOrigin(protocol: string, host: string | undefined): string {
  if (host === undefined || !HOST.test(host)) return "";
  return `${isSecure(protocol) ? "https" : "http"}://${host}`;
}

/** Whether `protocol`, which may come from a proxy's header, is HTTPS. */
export function isSecure(protocol: string): boolean {
  return protocol === "https" || protocol.toLowerCase() === "https";
}
