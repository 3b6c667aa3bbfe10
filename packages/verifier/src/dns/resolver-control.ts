import { type DnsAnswer, openDnsLookup } from "./dns-lookup.ts";

/**
 * Tells whether a denial of the resolvers counts. A resolver without access to the public DNS (a container, a captive
 * portal) denies every name, and says nothing about a domain.
 */
export interface ResolverControl {
  /**
   * Whether the resolvers know the top-level domain of a name. If that domain need not exist, it is enough that they
   * know `com`. Never rejects; `false` if the question failed.
   */
  isBelievable(name: string): Promise<boolean>;
  /** Cancels the questions under way. */
  close(): void;
}

export interface ResolverControlOptions {
  /** `null`: the machine's resolvers. */
  dnsServers: readonly string[] | null;
  dnsMs: number;
  now: () => number;
}

const CONTROL = "com";
const CLASSIC: ReadonlySet<string> = new Set([
  "com",
  "net",
  "org",
  "edu",
  "gov",
  "mil",
  "int",
  "info",
  "biz",
]);
const REGIONS = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
/** A machine may change its network, so neither answer is kept for long. */
const CONFIRMED_TTL_MS = 300_000;
const DENIED_TTL_MS = 10_000;
/** Anybody can ask about a made-up top-level domain. */
const MAX_ANSWERS = 1000;

type State = DnsAnswer<string>["state"];

export function createResolverControl(options: ResolverControlOptions): ResolverControl {
  const { dnsServers, dnsMs, now } = options;
  const answers = new Map<string, { state: Promise<State>; untilMs: number }>();
  const cancels = new Set<() => void>();

  async function ask(topLevel: string): Promise<State> {
    const lookup = openDnsLookup({ servers: dnsServers, deadlineMs: dnsMs });
    cancels.add(lookup.cancel);
    try {
      return (await lookup.ns(topLevel)).state;
    } finally {
      lookup.cancel();
      cancels.delete(lookup.cancel);
    }
  }

  /** The answer is cached for each top-level domain, so that many denials cost one question. */
  function stateOf(topLevel: string): Promise<State> {
    const known = answers.get(topLevel);
    if (known !== undefined && known.untilMs > now()) return known.state;
    const answer = { state: ask(topLevel), untilMs: Number.POSITIVE_INFINITY };
    answers.delete(topLevel);
    answers.set(topLevel, answer);
    for (const oldest of answers.keys()) {
      if (answers.size <= MAX_ANSWERS) break;
      answers.delete(oldest);
    }
    void answer.state.then((state) => {
      answer.untilMs = now() + (state === "found" ? CONFIRMED_TTL_MS : DENIED_TTL_MS);
    });
    return answer.state;
  }

  return {
    async isBelievable(name) {
      const topLevel = name.slice(name.lastIndexOf(".") + 1);
      const state = await stateOf(topLevel);
      return (
        state === "found" ||
        (state === "absent" && !mustExist(topLevel) && (await stateOf(CONTROL)) === "found")
      );
    },
    close() {
      for (const cancel of cancels) cancel();
    },
  };
}

/** Whether a top-level domain is one of the classic ones or of a country; others may be new, private or made up. */
function mustExist(topLevel: string): boolean {
  const isRegion = /^[a-z]{2}$/.test(topLevel) && REGIONS.of(topLevel.toUpperCase()) !== undefined;
  return isRegion || CLASSIC.has(topLevel);
}
