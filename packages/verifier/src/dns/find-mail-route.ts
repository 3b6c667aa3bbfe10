import { randomInt } from "node:crypto";
import type { MxRecord } from "node:dns";
import { isIP } from "node:net";
import { type DnsAnswer, DnsLookup } from "./dns-lookup.ts";
import type { MailHost, MailRoute } from "./mail-route.ts";
import type { ResolverControl } from "./resolver-control.ts";

export interface FindMailRouteOptions {
  /** `null`: the machine's resolvers. */
  dnsServers: readonly string[] | null;
  dnsMs: number;
  maxHosts: number;
  control: Pick<ResolverControl, "isBelievable">;
}

/** Maximum number of addresses per host, for each of IPv4 and IPv6. */
const MAX_ADDRESSES = 2;
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

const FAILED: MailRoute = { routing: "unknown", reason: "dns_failure" };

/**
 * Queries the DNS for a domain's mail route. Never rejects; `unknown` if the DNS failed, if its denials do not count,
 * or if `signal` aborted.
 */
export async function findMailRoute(
  domain: string,
  { dnsServers, dnsMs, maxHosts, control }: FindMailRouteOptions,
  signal: AbortSignal,
): Promise<MailRoute> {
  const lookup = new DnsLookup({ servers: dnsServers, deadlineMs: dnsMs });
  signal.addEventListener("abort", lookup.cancel);
  try {
    if (signal.aborted) return FAILED;
    const exchanges = await lookup.mx(domain);
    if (exchanges.state === "failed") return FAILED;
    const denied = (names: readonly string[]) => readDenial(lookup, control, names);
    // Like Postfix, also after NXDOMAIN: some servers send it for a name without MX.
    if (exchanges.state === "absent") return await findImplicitRoute(lookup, domain, denied);
    return await findExplicitRoute(lookup, exchanges.records, maxHosts, denied);
  } finally {
    signal.removeEventListener("abort", lookup.cancel);
    lookup.cancel();
  }
}

type Denial = (names: readonly string[]) => Promise<MailRoute>;

/** The route if the resolvers deny the given names. */
async function readDenial(
  lookup: DnsLookup,
  control: Pick<ResolverControl, "isBelievable">,
  names: readonly string[],
): Promise<MailRoute> {
  const all = Promise.all(names.map((name) => control.isBelievable(name)));
  const counts = await Promise.race([all.then((each) => each.every(Boolean)), lookup.over]);
  if (counts === undefined) return FAILED;
  return counts ? { routing: "none" } : { routing: "unknown", reason: "dns_untrusted" };
}

/** Without MX, the domain is its own mail host (RFC 5321 §5.1). */
async function findImplicitRoute(lookup: DnsLookup, domain: string, denied: Denial): Promise<MailRoute> {
  const found = await findAddresses(lookup, domain);
  if (found.state === "found") {
    return { routing: "found", hosts: [{ name: domain, addresses: found.records }] };
  }
  return found.state === "absent" ? await denied([domain]) : FAILED;
}

async function findExplicitRoute(
  lookup: DnsLookup,
  records: readonly MxRecord[],
  maxHosts: number,
  denied: Denial,
): Promise<MailRoute> {
  // The root as exchange means "no mail" only if it is the single MX (RFC 7505 §3). It is never a host: its empty
  // name would resolve to this machine.
  const named = records.filter(({ exchange }) => exchange !== "" && exchange !== ".");
  if (named.length === 0) return { routing: "null_mx" };
  const names = inOrder(named);
  // Senders disagree about a host with an invalid name: some bounce, some deliver. It is not contacted, but
  // counts as existing.
  const usable = names.filter((name) => HOST_NAME.test(name) && isIP(name) === 0);
  const asked = usable.slice(0, maxHosts);
  const answers = await Promise.all(asked.map((name) => findAddresses(lookup, name)));
  const hosts: MailHost[] = [];
  for (const [index, answer] of answers.entries()) {
    const name = asked[index];
    if (name !== undefined && answer.state === "found") hosts.push({ name, addresses: answer.records });
  }
  if (hosts.length > 0) return { routing: "found", hosts };
  if (answers.some(({ state }) => state === "failed")) return FAILED;
  if (usable.length < names.length) return { routing: "found", hosts };
  // Hosts beyond `maxHosts` were not queried and may exist.
  return asked.length < usable.length ? FAILED : await denied(asked);
}

/** Distinct names in order of preference; equal preferences in random order. */
function inOrder(records: readonly MxRecord[]): string[] {
  const sorted = shuffled(records).sort((one, other) => one.priority - other.priority);
  return [...new Set(sorted.map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, "")))];
}

async function findAddresses(lookup: DnsLookup, name: string): Promise<DnsAnswer<string>> {
  // RFC 6761: localhost is this machine, whatever the DNS answers.
  if (/(?:^|\.)localhost$/.test(name)) return { state: "found", records: ["127.0.0.1"] };
  const [a, aaaa] = await Promise.all([lookup.a(name), lookup.aaaa(name)]);
  const records = [a, aaaa].flatMap((answer) =>
    answer.state === "found" ? shuffled(answer.records).slice(0, MAX_ADDRESSES) : [],
  );
  if (records.length > 0) return { state: "found", records };
  return { state: a.state === "failed" || aaaa.state === "failed" ? "failed" : "absent" };
}

function shuffled<T>(items: readonly T[]): T[] {
  const keyed = items.map((item) => ({ item, key: randomInt(2 ** 32) }));
  return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item);
}
