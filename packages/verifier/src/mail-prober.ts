import { ServiceError } from "@outrigger/core";
import type { MailProber, ProbeResult } from "@outrigger/core/lookup";
import type { KeyValue } from "@outrigger/core/stores";
import { findMailRoute } from "./dns/find-mail-route.ts";
import type { MailRoute } from "./dns/mail-route.ts";
import { ResolverControl } from "./dns/resolver-control.ts";
import { createEgressControl } from "./egress-control.ts";
import { EgressWatch } from "./egress-watch.ts";
import { Flights } from "./flights.ts";
import { HostBudgets } from "./host-budget.ts";
import { MailProbe } from "./probe.ts";
import { NOTHING } from "./probe-results.ts";
import { ProberMemory } from "./prober-memory.ts";
import type { ProberSettings } from "./prober-options.ts";
import { type MailProberOptions, readProberOptions } from "./prober-options.ts";
import { checkMailbox } from "./smtp/smtp-command.ts";

/** A {@link MailProber} that remembers greylisted questions, and for an hour accepted mailboxes. */
export interface VerifyingProber extends MailProber {
  /** Deletes what is remembered of an address. Rejects if the cache fails. */
  forget(local: string, domain: string): Promise<void>;
}

const CACHE_ENTRIES = 10_000;

/**
 * A prober that queries the DNS, and with `smtp` also the mail hosts, for whether an address accepts mail. It
 * never sends mail.
 *
 * Throws a `TypeError` for invalid options. `probe` rejects with a `TypeError` for a local part or domain that
 * cannot be part of a command, and with `store_unavailable` if the prober is closed. Every other failure is a
 * result.
 */
export function createMailProber(options: MailProberOptions = {}): VerifyingProber {
  return createProber(readProberOptions(options));
}

/** A prober with these settings. */
export function createProber(settings: ProberSettings): VerifyingProber {
  const { now, onError, wholeMs } = settings;
  const cache = settings.cache ?? createMemoryCache(CACHE_ENTRIES);
  const memory = new ProberMemory({ cache, secret: settings.secret, now, onError });
  const routes = new RouteFinder(settings, memory);
  const egress = new EgressWatch(settings.egress, now, createEgressControl(settings, routes.find));
  const probe = new MailProbe({
    settings,
    memory,
    findRoute: routes.find,
    budgets: new HostBudgets(settings.budget, now),
    egress,
  });
  const flights = new Flights<ProbeResult, ProbeResult>();
  let isClosed = false;

  return {
    async probe(local, domain, { smtp, signal, account = "", onWait, mayAsk }) {
      checkMailbox(local, domain);
      if (isClosed) throw new ServiceError("store_unavailable", "The mail prober is closed.");
      const asksHosts = smtp && settings.smtp !== null;
      const landing = await flights.join(`${asksHosts} ${local}@${domain}`, signal, () => {
        let found: ProbeResult = NOTHING;
        const report = (result: ProbeResult) => {
          found = result;
        };
        return {
          progress: () => found,
          run: (flightSignal) =>
            withDeadline(wholeMs, flightSignal, (within, deadline) =>
              probe.run({
                local,
                domain,
                asksHosts,
                account,
                report,
                mayAsk,
                signal: within,
                onWait(waitMs) {
                  if (waitMs === null) deadline.resume();
                  else deadline.pause();
                  onWait?.(waitMs);
                },
              }),
            ),
        };
      });
      return "result" in landing ? landing.result : { ...landing.progress, reason: "timeout" };
    },
    async forget(local, domain) {
      probe.forget(domain, local);
      await memory.forget(local, domain);
    },
    async close() {
      isClosed = true;
      await Promise.all([flights.close(), routes.close(), egress.close()]);
      await probe.settled();
    },
  };
}

/** Runs `work` with a signal that aborts with `signal` or at the deadline. The time of a pause does not count. */
async function withDeadline<T>(
  deadlineMs: number,
  signal: AbortSignal,
  work: (within: AbortSignal, deadline: { pause(): void; resume(): void }) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let leftMs = deadlineMs;
  let sinceMs = performance.now();
  let timer = setTimeout(abort, leftMs);
  const pause = () => {
    clearTimeout(timer);
    leftMs -= performance.now() - sinceMs;
  };
  const resume = () => {
    sinceMs = performance.now();
    timer = setTimeout(abort, leftMs);
  };
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await work(controller.signal, { pause, resume });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** A cache in this process of at most `maxEntries`; the oldest write is evicted first. */
function createMemoryCache(maxEntries: number): KeyValue {
  const entries = new Map<string, unknown>();
  return {
    get: async (key) => entries.get(key),
    // The reader checks the expiry of a value.
    async set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries) break;
        entries.delete(oldest);
      }
    },
    delete: async (key) => entries.delete(key),
  };
}

/** Finds the mail route of a domain, with a cache and a single flight per domain. */
class RouteFinder {
  readonly #settings: ProberSettings;
  readonly #memory: ProberMemory;
  readonly #flights = new Flights<null, MailRoute>();
  readonly #control: ResolverControl;

  constructor(settings: ProberSettings, memory: ProberMemory) {
    this.#settings = settings;
    this.#memory = memory;
    this.#control = new ResolverControl(settings);
  }

  /** Never rejects. */
  readonly find = async (domain: string, signal: AbortSignal): Promise<MailRoute> => {
    const landing = await this.#flights.join(domain, signal, () => ({
      progress: () => null,
      run: (within) => this.#findAndStore(domain, within),
    }));
    return "result" in landing ? landing.result : { routing: "unknown", reason: "dns_failure" };
  };

  async close(): Promise<void> {
    this.#control.close();
    await this.#flights.close();
  }

  async #findAndStore(domain: string, signal: AbortSignal): Promise<MailRoute> {
    const known = await this.#memory.route(domain);
    if (known !== undefined) return known;
    const route = await findMailRoute(domain, { ...this.#settings, control: this.#control }, signal);
    // A failure says nothing about the domain, so it is not cached.
    if (route.routing !== "unknown") await this.#memory.storeRoute(domain, route, this.#settings.routeTtlMs);
    return route;
  }
}
