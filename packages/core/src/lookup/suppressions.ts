import { createHmac } from "node:crypto";
import type { SuppressionList } from "../contracts/suppression-list.ts";
import type { Secret } from "../secret-bytes.ts";
import { mainAddress } from "./address/parse-address.ts";
import { deriveLookupKeys, hmacKeysOf } from "./lookup-keys.ts";
import { createMarkers, presentIn } from "./suppression-markers.ts";

/** Whether the address itself is suppressed, or its domain. */
export type Suppressed = "address" | "domain";

/**
 * Suppressed addresses and domains, all normalised. Every call waits for {@link Suppressions.ready}, and
 * rejects if that does.
 */
export interface Suppressions {
  /**
   * Resolves once the list is verified to belong to the given secrets; marks a new list. Rejects with
   * `host_misuse` for another secret, now and on every later call, and with `store_unavailable` while the
   * list is unavailable.
   */
  ready(): Promise<void>;
  ofAddress(address: string): Promise<Suppressed | null>;
  /** Whether a domain is suppressed (`all`), or addresses of it (`some`). */
  ofDomain(domain: string): Promise<"all" | "some" | "none">;
  /** The suppressed subjects among some addresses and domains. */
  among(subjects: readonly string[]): Promise<ReadonlySet<string>>;
  /** The subjects among these that the page index must not store: suppressed ones, and those of {@link Suppressions.markErased}. */
  barredFromIndex(subjects: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Keeps the page index, but no import, from storing an erased subject again, with what {@link Suppressions.add} would cover.
   * @param subject normalised.
   */
  markErased(subject: string): Promise<void>;
  /**
   * Suppresses an address with its subaddresses (`name+tag@domain`), or a domain with its subdomains. A subaddress
   * stands for its address.
   * @param subject normalised.
   */
  add(subject: string): Promise<void>;
  /** Removes a suppression and a mark of an erasure. @returns whether there was one. */
  remove(subject: string): Promise<boolean>;
  /** Whether the list is new: nothing was ever added. */
  isUnused(): Promise<boolean>;
}

/** Number of domains whose tokens are kept. */
const MAX_DOMAINS = 2000;

/**
 * Stores suppressions in a list, as HMAC-SHA256 with keys derived from `secret`. Without the secret the list
 * cannot be read, and addresses cannot be tested against it. New entries use the first secret of a rotation
 * list. Entries of all its secrets are found and removed.
 * @throws TypeError for a secret shorter than 32 bytes.
 */
export function createSuppressions(list: SuppressionList, secret: Secret): Suppressions {
  const keys = deriveLookupKeys(secret);
  const hmacKeys = hmacKeysOf(keys);
  const markers = createMarkers(list, keys);

  /** The token under every key; the first is used for new entries. */
  const tokensOf = (subject: string, kind = "suppress") =>
    hmacKeys.map((key) => createHmac("sha256", key).update(`${kind}:${subject}`).digest("base64url"));
  const erasureTokensOf = (subject: string) => tokensOf(subject, "keep out of the index");
  /** Of domains that were asked about lately, the tokens of {@link Suppressions.ofDomain}. */
  const domainTokens = new Map<string, { all: string[]; some: string[] }>();

  function tokensOfDomain(domain: string): { all: string[]; some: string[] } {
    let tokens = domainTokens.get(domain);
    if (tokens === undefined) {
      tokens = { all: domainsOver(domain).flatMap((each) => tokensOf(each)), some: marksOf(domain) };
      if (domainTokens.size >= MAX_DOMAINS) domainTokens.clear();
      domainTokens.set(domain, tokens);
    }
    return tokens;
  }

  /**
   * The mark of a domain with suppressed addresses: without it, its addresses need no query. The mark is
   * never removed.
   */
  const marksOf = (domain: string) => tokensOf(`somebody at ${domain}`); // words: ok (stored data)

  /**
   * Which tokens are on the list, usually with one query. That query also shows whether another secret took a
   * place meanwhile.
   */
  async function present(tokens: readonly string[]): Promise<(token: string) => boolean> {
    await markers.check();
    const found = await presentIn(list, [...markers.watched(), ...tokens]);
    if (!markers.isCurrent(found)) await markers.check();
    return (token) => found.has(token);
  }

  /** Prepares the list for an entry with the first key. */
  async function makeReady(): Promise<void> {
    await present([]);
    await markers.claim();
  }

  return {
    ready: () => markers.check(),
    async ofAddress(address) {
      const own = tokensOf(mainAddress(address));
      const domains = domainsOver(domainOf(address)).flatMap((each) => tokensOf(each));
      const isThere = await present([...own, ...domains]);
      if (own.some(isThere)) return "address";
      return domains.some(isThere) ? "domain" : null;
    },
    async ofDomain(domain) {
      const { all, some } = tokensOfDomain(domain);
      const isThere = await present([...all, ...some]);
      if (all.some(isThere)) return "all";
      return some.some(isThere) ? "some" : "none";
    },
    among: (subjects) => coveredOf(subjects, (subject) => tokensOf(subject), present),
    barredFromIndex: (subjects) =>
      coveredOf(subjects, (subject) => [...tokensOf(subject), ...erasureTokensOf(subject)], present),
    async markErased(given) {
      await makeReady();
      const [token = ""] = erasureTokensOf(mainAddress(given));
      await list.add([token]);
    },
    async add(given) {
      const subject = mainAddress(given);
      await makeReady();
      const [token = ""] = tokensOf(subject);
      const [mark = ""] = marksOf(domainOf(subject));
      await list.add(subject.includes("@") ? [token, mark] : [token]);
    },
    async remove(subject) {
      await markers.check();
      const main = mainAddress(subject);
      return (await list.remove([...tokensOf(main), ...erasureTokensOf(main)])) > 0;
    },
    async isUnused() {
      await markers.check();
      return (await list.count()) === (await markers.count());
    },
  };
}

/** The subjects that an entry covers. @param entriesOf The tokens of a subject. @param present Which tokens are listed. */
async function coveredOf(
  subjects: readonly string[],
  entriesOf: (subject: string) => string[],
  present: (tokens: readonly string[]) => Promise<(token: string) => boolean>,
): Promise<ReadonlySet<string>> {
  if (subjects.length === 0) return new Set();
  const covering = new Map(subjects.map((each) => [each, subjectsOver(each)]));
  const tokens = new Map([...covering.values()].flat().map((subject) => [subject, [] as string[]]));
  for (const subject of tokens.keys()) tokens.set(subject, entriesOf(subject));
  const isThere = await present([...tokens.values()].flat());
  const isListed = (subject: string) => tokens.get(subject)?.some(isThere) ?? false;
  return new Set(subjects.filter((each) => covering.get(each)?.some(isListed)));
}

/** The subjects whose suppression covers an address or a domain, the subject itself included. */
function subjectsOver(subject: string): string[] {
  return subject.includes("@")
    ? [mainAddress(subject), ...domainsOver(domainOf(subject))]
    : domainsOver(subject);
}

/** The domain and all domains above it, except the top level. */
function domainsOver(domain: string): string[] {
  const labels = domain.split(".");
  return labels.slice(0, Math.max(1, labels.length - 1)).map((_, index) => labels.slice(index).join("."));
}

/** The domain of an address; for a domain, the domain itself. */
function domainOf(subject: string): string {
  return subject.slice(subject.lastIndexOf("@") + 1);
}
