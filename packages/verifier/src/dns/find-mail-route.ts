import { randomInt } from "node:crypto";
import type { MxRecord } from "node:dns";
import { isIP } from "node:net";
import type { ProberSettings } from "../prober-options.ts";
import { type DnsAnswer, DnsLookup } from "./dns-lookup.ts";
import type { MailHost, MailRoute } from "./mail-route.ts";
import type { ResolverControl } from "./resolver-control.ts";

type FindMailRouteOptions = Pick<ProberSettings, "dnsServers" | "dnsMs" | "maxHosts"> & {
  control: Pick<ResolverControl, "isBelievable">;
};

/** Maximum number of addresses per host, for each of IPv4 and IPv6. */
const MAX_ADDRESSES = 4;
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

const FAILED: MailRoute = { routing: "unknown", reason: "dns_failure" };

/**
 * Queries the DNS for a domain's mail route. Never rejects; `unknown` if the DNS failed, if its denials do not count,
 * or if `signal` aborted.
 */
export async function findMailRoute(
  domain: string,
  { maxHosts, control, ...settings }: FindMailRouteOptions,
  signal: AbortSignal,
): Promise<MailRoute> {
  const lookup = new DnsLookup(settings);
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
  const byName = inOrder(named);
  // Senders disagree about a host with an invalid name: some bounce, some deliver. It is not contacted, but
  // counts as existing.
  const usable = [...byName].filter(([name]) => HOST_NAME.test(name) && isIP(name) === 0);
  const asked = usable.slice(0, maxHosts).map(([name]) => name);
  const answers = await Promise.all(asked.map((name) => findAddresses(lookup, name)));
  const hosts: MailHost[] = [];
  let before: number | null = null;
  for (const [index, [name, priority]] of usable.entries()) {
    const answer = answers[index];
    // Of hosts beyond `maxHosts`, only equal ones matter: a denial of another does not count without theirs.
    if (answer?.state === "absent" || (answer === undefined && priority !== before)) continue;
    const addresses = answer?.state === "found" ? answer.records : [];
    hosts.push({ name, addresses, ...(priority === before && { isEqual: true }) });
    before = priority;
  }
  if (hosts.some(({ addresses }) => addresses.length > 0)) return { routing: "found", hosts };
  if (answers.some(({ state }) => state === "failed")) return FAILED;
  // Hosts beyond `maxHosts` were not queried and may exist.
  if (usable.length === byName.size) return asked.length < usable.length ? FAILED : await denied(asked);
  return { routing: "found", hosts: [] };
}

/** The preference of each name, in order of preference; equal preferences in random order. */
function inOrder(records: readonly MxRecord[]): Map<string, number> {
  const names = new Map<string, number>();
  for (const { exchange, priority } of shuffled(records).sort(
    (one, other) => one.priority - other.priority,
  )) {
    const name = exchange.toLowerCase().replace(/\.$/, "");
    if (!names.has(name)) names.set(name, priority);
  }
  return names;
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
