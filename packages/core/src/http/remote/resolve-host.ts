import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { type BlockList, isIP } from "node:net";
import { abortable } from "../../async/abortable.ts";
import type { RemoteAddress } from "./remote-policy.ts";
import { isForbidden, specialAddresses } from "./special-addresses.ts";

/** Most addresses of a host that are tried. */
const MAX_ADDRESSES = 8;
const QUERY_MS = 3000;

/** How host names become addresses. */
export interface Resolution {
  /** Addresses that are never contacted, except those of internal hosts. @default specialAddresses() */
  forbidden?: BlockList;
  /** DNS resolvers. @default the machine's */
  dnsServers?: readonly string[];
}

/**
 * Resolves a host once. A connection must go to one of these addresses: a second query may have another answer. Rejects if
 * the host has no address, or none that may be contacted.
 */
export async function resolveHost(
  { host, isInternal }: RemoteAddress,
  { forbidden = specialAddresses(), dnsServers }: Resolution,
  signal: AbortSignal,
): Promise<LookupAddress[]> {
  if (isInternal) {
    // As every program of the machine, with its file of hosts.
    return (await abortable(lookup(host, { all: true }), signal)).slice(0, MAX_ADDRESSES);
  }
  const found = isIP(host) === 0 ? await queryDns(host, dnsServers, signal) : [host];
  const allowed = found.filter((address) => !isForbidden(forbidden, address));
  if (allowed.length === 0) throw new Error(`the host has no public address (${found.length} others)`);
  return allowed.slice(0, MAX_ADDRESSES).map((address) => ({ address, family: isIP(address) }));
}

/**
 * Asks the DNS. `dns.lookup` would occupy a thread that the file system needs, for as long as the resolver of a hostile domain
 * takes, and cannot be cancelled.
 */
async function queryDns(
  host: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: QUERY_MS, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    signal.throwIfAborted();
    const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const [first] = answers;
    if (found.length === 0 && first.status === "rejected") throw first.reason;
    return found;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
