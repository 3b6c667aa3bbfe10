import { createHmac } from "node:crypto";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { KeyValue } from "../../contracts/key-value.ts";
import type { MailLists, MailProber, ProbeResult } from "../../contracts/mail-prober.ts";
import { ServiceError } from "../../errors.ts";
import type { ParsedAddress } from "../address/parse-address.ts";
import { claimed } from "../lookup-problem.ts";

/** Asks about addresses, each once at a time, and remembers what was found out for a while. */
export interface Verifier {
  isWebmail(domain: string): boolean;
  isDisposable(domain: string): boolean;
  /** A domain that was probably meant; `null` where none suggests itself. */
  suggestDomain(domain: string): string | null;
  /**
   * What DNS and mail servers say; `null` where that takes longer than `waitMs`: then it goes on, and who asks again finds it.
   * Of webmail, only the DNS is asked.
   */
  probe(address: ParsedAddress, waitMs: number): Promise<ProbeResult | null>;
  /** Forgets what is remembered of an address. */
  forget(address: ParsedAddress): Promise<void>;
  /** Gives up what is under way. */
  close(): Promise<void>;
}

export interface VerifierOptions {
  prober: MailProber | null;
  lists: MailLists | null;
  cache: KeyValue;
  /** HMAC keys of the cache: the first makes keys, of the others entries may be left. */
  hmacKeys: readonly Buffer[];
  /** Whether the owner of a normalised address asked to be left out. */
  isSuppressed(address: string): Promise<boolean>;
  onError(error: unknown): void;
}

/** No probe takes longer, whoever waits for it. */
const MAX_PROBE_MS = 60_000;
/** Beyond it, clients are told to come back: each has sockets, and a client who waits. */
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

  /** Keys of the cache, which no address can be read from. */
  const keysOf = (address: string) =>
    hmacKeys.map(
      (key) => `probe:${createHmac("sha256", key).update(`probe:${address}`).digest("base64url")}`,
    );

  async function find(parsed: ParsedAddress, key: string): Promise<ProbeResult> {
    if (underWay.size >= MAX_UNDER_WAY) {
      throw new ServiceError("overloaded", "Too many addresses are being asked about");
    }
    const known = await cache.get(key).catch(onError);
    // Written by this function, under a key of its own.
    if (known !== undefined && known !== null) return known as ProbeResult;
    if (prober === null) return NOT_PROBED;
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(MAX_PROBE_MS)]);
    const { local, domain } = asAsked(parsed);
    const result = await prober.probe(local, domain, {
      smtp: !isWebmail(parsed.domain),
      signal,
    });
    // A probe takes seconds, in which its owner may have been suppressed, and what was cached of them deleted.
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

/** An address is one in whatever case it is written: what is found out about one spelling holds for the others. */
function asAsked({ address, domain }: ParsedAddress): { local: string; domain: string } {
  return { local: address.slice(0, address.lastIndexOf("@")), domain };
}

/** How long a result holds, in milliseconds: what is certain for days, what may pass for as long as it may take. */
function ttlOf({ mailbox, acceptsAll, routing, reason, retryAfterMs }: ProbeResult): number {
  if (reason === "not_probed") return HOUR_MS;
  if (retryAfterMs !== null) return Math.max(1000, retryAfterMs);
  if (mailbox === false) return 3 * DAY_MS;
  if (mailbox === true || acceptsAll === true) return 7 * DAY_MS;
  if (routing === "none" || routing === "null_mx") return DAY_MS;
  return 10 * 60_000;
}
