import { createHmac } from "node:crypto";
import type { KeyValue } from "../../contracts/key-value.ts";
import type { MailLists, MailProber, ProbeResult } from "../../contracts/mail-prober.ts";
import { ServiceError } from "../../errors.ts";
import type { ParsedAddress } from "../address/parse-address.ts";
import { claimed } from "../lookup-problem.ts";

/** Probes addresses, with at most one probe per address at a time, and caches the results. */
export interface Verifier {
  isWebmail(domain: string): boolean;
  isDisposable(domain: string): boolean;
  /** The domain that was probably meant; `null` if there is no suggestion. */
  suggestDomain(domain: string): string | null;
  /**
   * The result from the DNS and mail servers. A probe may wait in line for minutes; a later call for the address
   * joins it. For webmail, only the DNS is queried.
   * @param turn the account on whose behalf; lines serve accounts alternately.
   */
  probe(address: ParsedAddress, turn: string | null): Promise<ProbeResult>;
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
const MAX_PROBE_MS = 60_000;
/** Maximum number of simultaneous probes, without those in line: each holds sockets. Further ones reject with `overloaded`. */
const MAX_PROBING = 500;
/** The same with those in line, which need memory only; and those of one turn, which must not use up all. */
const MAX_UNDER_WAY = 4000;
const MAX_OF_TURN = 1000;
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
  const closing = new AbortController();
  const isWebmail = (domain: string) => lists?.isWebmail(domain) ?? false;

  /** Keys of the cache; they do not reveal the address. */
  const keysOf = (address: string) =>
    hmacKeys.map(
      (key) => `probe:${createHmac("sha256", key).update(`probe:${address}`).digest("base64url")}`,
    );

  function lineMs(parsed: ParsedAddress): number {
    const { local, domain } = asAsked(parsed);
    return prober?.lineMs?.(local, domain) ?? 0;
  }

  function requireRoom(turn: string | null): void {
    if (underWay.size < MAX_PROBING) return;
    const others = [...underWay.values()];
    const isFull =
      others.length >= MAX_UNDER_WAY ||
      others.filter((other) => other.turn === turn).length >= MAX_OF_TURN ||
      others.filter((other) => lineMs(other.parsed) === 0).length >= MAX_PROBING;
    if (!isFull) return;
    throw new ServiceError("overloaded", "Too many addresses are being verified: try again later", {
      retryAfterMs: BUSY_RETRY_MS,
    });
  }

  async function find(parsed: ParsedAddress, key: string, turn: string | null): Promise<ProbeResult> {
    const known = await cache.get(key).catch(onError);
    // Written by this function under its own key.
    if (known !== undefined && known !== null) return known as ProbeResult;
    if (prober === null) return NOT_PROBED;
    const { local, domain } = asAsked(parsed);
    const limit = limitProbing(() => lineMs(parsed));
    const result = await prober
      .probe(local, domain, {
        smtp: !isWebmail(parsed.domain),
        signal: AbortSignal.any([closing.signal, limit.signal]),
        ...(turn !== null && { turn }),
      })
      .finally(limit.end);
    // A probe takes seconds. Meanwhile the address may have been suppressed and its cached result deleted.
    if (await isSuppressed(parsed.address)) throw claimed();
    if (!closing.signal.aborted) await cache.set(key, result, ttlOf(result)).catch(onError);
    return result;
  }

  return {
    isWebmail,
    isDisposable: (domain) => lists?.isDisposable(domain) ?? false,
    suggestDomain: (domain) => lists?.suggestDomain(domain) ?? null,
    async probe(parsed, turn) {
      const [key = ""] = keysOf(parsed.address);
      const known = underWay.get(key);
      if (known !== undefined) return known.result;
      requireRoom(turn);
      const result = find(parsed, key, turn).finally(() => underWay.delete(key));
      underWay.set(key, { parsed, turn, result });
      return result;
    },
    lineMs,
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

interface Probing {
  parsed: ParsedAddress;
  turn: string | null;
  result: Promise<ProbeResult>;
}

/** A signal that aborts `MAX_PROBE_MS` after the probe began or was last seen in line. */
function limitProbing(lineMs: () => number): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout;
  const check = () => {
    const waitMs = lineMs();
    if (waitMs > 0) timer = setTimeout(check, waitMs + MAX_PROBE_MS);
    else controller.abort(new Error("The probe took too long"));
  };
  timer = setTimeout(check, MAX_PROBE_MS);
  return { signal: controller.signal, end: () => clearTimeout(timer) };
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
