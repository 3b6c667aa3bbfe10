import type { ProberSettings } from "../prober-options.ts";
import { type DnsAnswer, DnsLookup } from "./dns-lookup.ts";

type ResolverControlOptions = Pick<ProberSettings, "dnsServers" | "dnsMs" | "now">;

const CONTROL = "com";
const CLASSIC: ReadonlySet<string> = new Set("com net org edu gov mil int info biz".split(" "));
const REGIONS = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
/** A machine may change its network, so neither answer is kept for long. */
const CONFIRMED_TTL_MS = 300_000;
const DENIED_TTL_MS = 10_000;
/** Anybody can ask about a made-up top-level domain. */
const MAX_ANSWERS = 1000;

type State = DnsAnswer<string>["state"];

/**
 * Decides whether a denial of the resolvers counts. A resolver without access to the public DNS (a container, a captive
 * portal) denies every name, and says nothing about a domain.
 */
export class ResolverControl {
  readonly #options: ResolverControlOptions;
  readonly #answers = new Map<string, { state: Promise<State>; untilMs: number }>();
  readonly #lookups = new Set<DnsLookup>();

  constructor(options: ResolverControlOptions) {
    this.#options = options;
  }

  /**
   * Whether the resolvers know the top-level domain of a name. If that domain need not exist, it is enough that they
   * know `com`. Never rejects; `false` if the question failed.
   */
  async isBelievable(name: string): Promise<boolean> {
    const topLevel = name.slice(name.lastIndexOf(".") + 1);
    const state = await this.#stateOf(topLevel);
    if (state !== "absent" || mustExist(topLevel)) return state === "found";
    return (await this.#stateOf(CONTROL)) === "found";
  }

  /** Cancels the questions under way. */
  close(): void {
    for (const lookup of this.#lookups) lookup.cancel();
  }

  async #ask(topLevel: string): Promise<State> {
    const lookup = new DnsLookup(this.#options);
    this.#lookups.add(lookup);
    try {
      return (await lookup.ns(topLevel)).state;
    } finally {
      lookup.cancel();
      this.#lookups.delete(lookup);
    }
  }

  /** The answer is cached for each top-level domain, so that many denials cost one question. */
  #stateOf(topLevel: string): Promise<State> {
    const { now } = this.#options;
    const known = this.#answers.get(topLevel);
    if (known !== undefined && known.untilMs > now()) return known.state;
    const answer = { state: this.#ask(topLevel), untilMs: Number.POSITIVE_INFINITY };
    this.#answers.delete(topLevel);
    this.#answers.set(topLevel, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS) break;
      this.#answers.delete(oldest);
    }
    void answer.state.then((state) => {
      answer.untilMs = now() + (state === "found" ? CONFIRMED_TTL_MS : DENIED_TTL_MS);
    });
    return answer.state;
  }
}

/** Whether a top-level domain is one of the classic ones or of a country; others may be new, private or made up. */
function mustExist(topLevel: string): boolean {
  const isRegion = /^[a-z]{2}$/.test(topLevel) && REGIONS.of(topLevel.toUpperCase()) !== undefined;
  return isRegion || CLASSIC.has(topLevel);
}
