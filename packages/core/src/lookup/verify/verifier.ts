import { createHmac } from "node:crypto";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { KeyValue } from "../../contracts/key-value.ts";
import type { MailLists, MailProber, ProbeResult } from "../../contracts/mail-prober.ts";
import { ServiceError } from "../../errors.ts";
import type { ParsedAddress } from "../address/parse-address.ts";
import { claimed } from "../lookup-problem.ts";

/** Probes addresses, with at most one probe per address at a time, and caches the results. */
export interface Verifier {
  isWebmail(domain: string): boolean;
  isDisposable(domain: string): boolean;
  isAlias(domain: string): boolean;
  /** The domain that was probably meant; `null` if there is no suggestion. */
  suggestDomain(domain: string): string | null;
  /**
   * The result from the DNS and mail servers; `null` if it takes longer than `waitMs`. The probe then goes
   * on, and a later call returns its result. For webmail, only the DNS is queried.
   */
  probe(address: ParsedAddress, waitMs: number): Promise<ProbeResult | null>;
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

/** The maximum time of a probe. */
const MAX_PROBE_MS = 60_000;
/**
 * Maximum number of simultaneous probes: each holds sockets and a waiting client. Further ones reject with
 * `overloaded`.
 */
const MAX_UNDER_WAY = 500;
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
  const underWay = new Map<string, Promise<ProbeResult>>();
  const closing = new AbortController();
  const isWebmail = (domain: string) => lists?.isWebmail(domain) ?? false;

  /** Keys of the cache; they do not reveal the address. */
  const keysOf = (address: string) =>
    hmacKeys.map(
      (key) => `probe:${createHmac("sha256", key).update(`probe:${address}`).digest("base64url")}`,
    );

  async function find(parsed: ParsedAddress, key: string): Promise<ProbeResult> {
    if (underWay.size >= MAX_UNDER_WAY) {
      throw new ServiceError("overloaded", "Too many addresses are being verified: try again later");
    }
    const known = await cache.get(key).catch(onError);
    // Written by this function under its own key.
    if (known !== undefined && known !== null) return known as ProbeResult;
    if (prober === null) return NOT_PROBED;
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(MAX_PROBE_MS)]);
    const { local, domain } = asAsked(parsed);
    const result = await prober.probe(local, domain, {
      smtp: !isWebmail(parsed.domain),
      signal,
    });
    // A probe takes seconds. Meanwhile the address may have been suppressed and its cached result deleted.
    if (await isSuppressed(parsed.address)) throw claimed();
    if (!closing.signal.aborted) await cache.set(key, result, ttlOf(result)).catch(onError);
    return result;
  }

  function ask(parsed: ParsedAddress): Promise<ProbeResult> {
    const [key = ""] = keysOf(parsed.address);
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const asked = find(parsed, key).finally(() => underWay.delete(key));
    underWay.set(key, asked);
    return asked;
  }

  return {
    isWebmail,
    isDisposable: (domain) => lists?.isDisposable(domain) ?? false,
    isAlias: (domain) => lists?.isAlias?.(domain) ?? false,
    suggestDomain: (domain) => lists?.suggestDomain(domain) ?? null,
    async probe(parsed, waitMs) {
      const asked = ask(parsed);
      return (await isSettledWithin(asked, waitMs)) ? await asked : null;
    },
    async forget(parsed) {
      const { local, domain } = asAsked(parsed);
      for (const key of keysOf(parsed.address)) await cache.delete(key);
      await prober?.forget?.(local, domain);
    },
    async close() {
      closing.abort(new Error("The lookup is closing"));
      await Promise.allSettled(underWay.values());
      await prober?.close();
    },
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
