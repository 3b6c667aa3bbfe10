import { createHmac } from "node:crypto";
import type { KeyValue } from "../../contracts/key-value.ts";
import type { MailLists, MailProber, ProbeResult } from "../../contracts/mail-prober.ts";
import { ServiceError } from "../../errors.ts";
import type { ParsedAddress } from "../address/parse-address.ts";
import { claimed } from "../lookup-problem.ts";

/** Probes addresses, with at most one probe per address at a time, and caches the results. */
export interface Verifier {
  /** Whether mail servers are queried. */
  readonly isProbing: boolean;
  /** Whether there are lists of webmail and disposable domains. */
  readonly hasLists: boolean;
  isWebmail(domain: string): boolean;
  isDisposable(domain: string): boolean;
  isAlias(domain: string): boolean;
  /** The domain that was probably meant; `null` if there is no suggestion. */
  suggestDomain(domain: string): string | null;
  /**
   * The result from the DNS and mail servers. A probe may wait in line for minutes; a later call for the address
   * joins it. For webmail, only the DNS is queried.
   * @param account on whose behalf; lines serve accounts alternately.
   */
  probe(address: ParsedAddress, account: string | null): Promise<ProbeResult>;
  /** Estimated time that a running probe still waits in line, in milliseconds; 0 if it does not wait. */
  lineMs(address: ParsedAddress): number;
  /** Deletes the cached results of an address. */
  forget(address: ParsedAddress): Promise<void>;
  /** Aborts running probes. */
  close(): Promise<void>;
}

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

export function createVerifier(options: VerifierOptions): Verifier {
  const { prober, lists, cache, hmacKeys, isSuppressed, onError } = options;
  const underWay = new Map<string, Probing>();
  /** Those of `underWay` whose result is not cached. */
  const asking = new Set<Probing>();
  const closing = new AbortController();
  const isWebmail = (domain: string) => lists?.isWebmail(domain) ?? false;

  /** Keys of the cache; they do not reveal the address. */
  const keysOf = (address: string) =>
    hmacKeys.map(
      (key) => `probe:${createHmac("sha256", key).update(`probe:${address}`).digest("base64url")}`,
    );

  function requireRoom(account: string | null): void {
    if (asking.size < MAX_PROBING) return;
    const others = [...asking];
    const isFull =
      others.length >= MAX_UNDER_WAY ||
      others.filter((other) => other.account === account).length >= MAX_OF_ACCOUNT ||
      others.filter((other) => other.waitMs === null).length >= MAX_PROBING;
    if (!isFull) return;
    throw new ServiceError("overloaded", "Too many addresses are being verified: try again later", {
      retryAfterMs: BUSY_RETRY_MS,
    });
  }

  async function find(parsed: ParsedAddress, key: string, probing: Probing): Promise<ProbeResult> {
    const known = await cache.get(key).catch(onError);
    // Written by this function under its own key.
    if (known !== undefined && known !== null) return known as ProbeResult;
    if (prober === null) return NOT_PROBED;
    requireRoom(probing.account);
    asking.add(probing);
    const { local, domain } = asAsked(parsed);
    const limit = limitProbing(probing);
    let result: ProbeResult;
    try {
      result = await prober.probe(local, domain, {
        smtp: !isWebmail(parsed.domain),
        signal: AbortSignal.any([closing.signal, limit.signal]),
        onWait: limit.onWait,
        mayAsk: async (address) => !(await isSuppressed(address)),
        ...(probing.account !== null && { account: probing.account }),
      });
    } finally {
      limit.end();
      asking.delete(probing);
    }
    // A probe takes seconds. Meanwhile the address may have been suppressed and its cached result deleted.
    if (await isSuppressed(parsed.address)) throw claimed();
    if (!closing.signal.aborted) await cache.set(key, result, ttlOf(result)).catch(onError);
    return result;
  }

  return {
    isProbing: prober !== null,
    hasLists: lists !== null,
    isWebmail,
    isDisposable: (domain) => lists?.isDisposable(domain) ?? false,
    isAlias: (domain) => lists?.isAlias?.(domain) ?? false,
    suggestDomain: (domain) => lists?.suggestDomain(domain) ?? null,
    async probe(parsed, account) {
      const [key = ""] = keysOf(parsed.address);
      const known = underWay.get(key)?.result;
      if (known !== undefined) return known;
      const probing: Probing = { account, waitMs: null };
      underWay.set(key, probing);
      probing.result = find(parsed, key, probing).finally(() => underWay.delete(key));
      return probing.result;
    },
    lineMs(parsed) {
      const [key = ""] = keysOf(parsed.address);
      return Math.max(0, underWay.get(key)?.waitMs?.() ?? 0);
    },
    async forget(parsed) {
      const { local, domain } = asAsked(parsed);
      for (const key of keysOf(parsed.address)) await cache.delete(key);
      await prober?.forget?.(local, domain);
    },
    async close() {
      closing.abort(new Error("The lookup is closing"));
      await Promise.allSettled([...underWay.values()].map(({ result }) => result));
      await prober?.close();
    },
  };
}

/** A probe under way. */
interface Probing {
  account: string | null;
  /** Estimates the remaining time in line; `null` outside a line. */
  waitMs: (() => number) | null;
  result?: Promise<ProbeResult>;
}

/** Limits the time of a probe to `MAX_PROBE_MS`, before, between and after its times in line. */
function limitProbing(probing: Probing) {
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(new Error("The probe took too long")), MAX_PROBE_MS);
  let timer = start();
  return {
    signal: controller.signal,
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
