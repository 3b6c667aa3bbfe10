import { createHmac } from "node:crypto";
import type { KeyValue } from "../../contracts/key-value.ts";
import type { MailLists, MailProber, ProbeResult } from "../../contracts/mail-prober.ts";
import { ServiceError } from "../../errors.ts";
import type { ParsedAddress } from "../address/parse-address.ts";
import { claimed } from "../lookup-problem.ts";

export interface VerifierOptions {
  prober: MailProber | null;
  lists: MailLists | null;
  cache: KeyValue;
  /** HMAC keys of the cache: new entries use the first, older entries may use another. */
  hmacKeys: readonly Buffer[];
  /** Whether a normalised address is suppressed. */
  isSuppressed(address: string): Promise<boolean>;
  onError(error: unknown): void;
}

/** The maximum time of a probe, without its time in line. */
const MAX_PROBE_MS = 30_000;
/** Maximum number of simultaneous probes, without those in line: each holds sockets. Further ones reject with `overloaded`. */
const MAX_PROBING = 500;
/** The same with those in line, which need memory only; and those of one account, which must not use up all. */
const MAX_UNDER_WAY = 4000;
const MAX_OF_ACCOUNT = 1000;
const BUSY_RETRY_MS = 30_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const NOT_PROBED: ProbeResult = {
  routing: "unknown",
  server: null,
  mailbox: null,
  acceptsAll: null,
  reason: "not_probed",
  retryAfterMs: null,
};

/** Probes addresses, with at most one probe per address at a time, and caches the results. */
export class Verifier {
  readonly #options: VerifierOptions;
  readonly #underWay = new Map<string, Probing>();
  /** Those of `#underWay` whose result is not cached. */
  readonly #asking = new Set<Probing>();
  #isClosing = false;

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  /** Whether mail servers are queried. */
  get isProbing(): boolean {
    return this.#options.prober !== null;
  }

  /**
   * The result from the DNS and mail servers. A probe may wait in line for minutes; a later call for the address
   * joins it. For webmail, only the DNS is queried.
   * @param account on whose behalf; lines serve accounts alternately.
   */
  async probe(parsed: ParsedAddress, account: string | null): Promise<ProbeResult> {
    const [key = ""] = this.#keysOf(parsed);
    const known = this.#underWay.get(key)?.result;
    if (known !== undefined) return known;
    const probing: Probing = { account, waitMs: null, stopping: new AbortController() };
    if (this.#isClosing) probing.stopping.abort(closing());
    this.#underWay.set(key, probing);
    probing.result = this.#find(parsed, key, probing).finally(() => this.#underWay.delete(key));
    return probing.result;
  }

  /** Estimated time that a running probe still waits in line, in milliseconds; 0 if it does not wait. */
  lineMs(parsed: ParsedAddress): number {
    const [key = ""] = this.#keysOf(parsed);
    return Math.max(0, this.#underWay.get(key)?.waitMs?.() ?? 0);
  }

  /** Deletes the cached results of an address. */
  async forget(parsed: ParsedAddress): Promise<void> {
    const { cache, prober } = this.#options;
    const { local, domain } = asAsked(parsed);
    for (const key of this.#keysOf(parsed)) await cache.delete(key);
    await prober?.forget?.(local, domain);
  }

  /** Aborts running probes. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { stopping } of this.#underWay.values()) stopping.abort(closing());
    await Promise.allSettled([...this.#underWay.values()].map(({ result }) => result));
    await this.#options.prober?.close();
  }

  /** Keys of the cache; they do not reveal the address. */
  #keysOf({ address }: ParsedAddress): string[] {
    return this.#options.hmacKeys.map(
      (key) => `probe:${createHmac("sha256", key).update(`probe:${address}`).digest("base64url")}`,
    );
  }

  #requireRoom(account: string | null): void {
    if (this.#asking.size < MAX_PROBING) return;
    const others = [...this.#asking];
    const isFull =
      others.length >= MAX_UNDER_WAY ||
      others.filter((other) => other.account === account).length >= MAX_OF_ACCOUNT ||
      others.filter((other) => other.waitMs === null).length >= MAX_PROBING;
    if (!isFull) return;
    throw new ServiceError("overloaded", "Too many addresses are being verified: try again later", {
      retryAfterMs: BUSY_RETRY_MS,
    });
  }

  async #find(parsed: ParsedAddress, key: string, probing: Probing): Promise<ProbeResult> {
    const { prober, lists, cache, isSuppressed, onError } = this.#options;
    const known = await cache.get(key).catch(onError);
    // Written by this function under its own key.
    if (known !== undefined && known !== null) return known as ProbeResult;
    if (prober === null) return NOT_PROBED;
    this.#requireRoom(probing.account);
    this.#asking.add(probing);
    const { local, domain } = asAsked(parsed);
    const limit = limitProbing(probing);
    let result: ProbeResult;
    try {
      result = await prober.probe(local, domain, {
        smtp: !lists?.isWebmail(parsed.domain),
        signal: probing.stopping.signal,
        onWait: limit.onWait,
        mayAsk: async (address) => !(await isSuppressed(address)),
        ...(probing.account !== null && { account: probing.account }),
      });
    } finally {
      limit.end();
      this.#asking.delete(probing);
    }
    // A probe takes seconds. Meanwhile the address may have been suppressed and its cached result deleted.
    if (await isSuppressed(parsed.address)) throw claimed();
    if (!this.#isClosing) await cache.set(key, result, ttlOf(result)).catch(onError);
    return result;
  }
}

/** A probe under way. */
interface Probing {
  account: string | null;
  /** Estimates the remaining time in line; `null` outside a line. */
  waitMs: (() => number) | null;
  result?: Promise<ProbeResult>;
  /** One for each probe: a signal for all would keep what `AbortSignal.any` derives from it. */
  stopping: AbortController;
}

function closing(): Error {
  return new Error("The lookup is closing");
}

/** Limits the time of a probe to `MAX_PROBE_MS`, before, between and after its times in line. */
function limitProbing(probing: Probing) {
  const start = () =>
    setTimeout(() => probing.stopping.abort(new Error("The probe took too long")), MAX_PROBE_MS);
  let timer = start();
  return {
    onWait(waitMs: Probing["waitMs"]) {
      probing.waitMs = waitMs;
      clearTimeout(timer);
      if (waitMs === null) timer = start();
    },
    end: () => clearTimeout(timer),
  };
}

/** Case is ignored: all spellings of an address share one probe. */
function asAsked({ address, domain }: ParsedAddress): { local: string; domain: string } {
  return { local: address.slice(0, address.lastIndexOf("@")), domain };
}

/**
 * How long a result is cached, in milliseconds: certain results for days, temporary ones as long as they may
 * last.
 */
function ttlOf({ mailbox, acceptsAll, routing, reason, retryAfterMs }: ProbeResult): number {
  if (reason === "not_probed") return HOUR_MS;
  if (retryAfterMs !== null) return Math.max(1000, retryAfterMs);
  if (mailbox === false) return 3 * DAY_MS;
  if (mailbox === true || acceptsAll === true) return 7 * DAY_MS;
  if (routing === "none" || routing === "null_mx") return DAY_MS;
  return 10 * 60_000;
}
