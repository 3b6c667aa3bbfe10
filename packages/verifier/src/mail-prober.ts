import { setMaxListeners } from "node:events";
import { createMemoryKeyValue, ServiceError } from "@outrigger/core";
import type { MailProber } from "@outrigger/core/lookup";
import { abortable } from "@outrigger/core/stores";
import { findMailRoute } from "./dns/find-mail-route.ts";
import type { MailRoute } from "./dns/mail-route.ts";
import { ResolverControl } from "./dns/resolver-control.ts";
import { createEgressControl } from "./egress-control.ts";
import { EgressWatch } from "./egress-watch.ts";
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
  const { now, onError } = settings;
  const cache = settings.cache ?? createMemoryKeyValue({ maxKeys: CACHE_ENTRIES });
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
  const running = new Map<Promise<unknown>, AbortController>();
  let isClosed = false;

  return {
    async probe(local, domain, { smtp, signal, account = "", onWait = () => undefined, mayAsk }) {
      checkMailbox(local, domain);
      if (isClosed) throw new ServiceError("store_unavailable", "The mail prober is closed.");
      let found = NOTHING;
      if (signal.aborted) return { ...found, reason: "timeout" };
      // Not the caller's: an abort after the result would cut the connection off before its goodbye.
      const controller = new AbortController();
      const abort = () => controller.abort();
      signal.addEventListener("abort", abort);
      const work = probe.run({
        local,
        domain,
        asksHosts: smtp && settings.smtp !== null,
        account,
        signal: controller.signal,
        onWait,
        mayAsk,
        report: (result) => {
          found = result;
        },
      });
      running.set(work, controller);
      void Promise.allSettled([work]).then(() => running.delete(work));
      try {
        return await abortable(work, controller.signal);
      } catch (error) {
        if (!controller.signal.aborted) throw error;
        return { ...found, reason: "timeout" };
      } finally {
        signal.removeEventListener("abort", abort);
      }
    },
    async forget(local, domain) {
      probe.forget(domain, local);
      await memory.forget(local, domain);
    },
    async close() {
      isClosed = true;
      for (const controller of running.values()) controller.abort();
      await Promise.all([Promise.allSettled(running.keys()), routes.close(), egress.close()]);
      await probe.settled();
    },
  };
}

/** Finds the mail route of a domain, with a cache and a single flight per domain. */
class RouteFinder {
  readonly #settings: ProberSettings;
  readonly #memory: ProberMemory;
  readonly #control: ResolverControl;
  readonly #closing = new AbortController();
  readonly #flights = new Map<string, Promise<MailRoute>>();

  constructor(settings: ProberSettings, memory: ProberMemory) {
    this.#settings = settings;
    this.#memory = memory;
    this.#control = new ResolverControl(settings);
    // Each lookup listens to it.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Never rejects. */
  readonly find = async (domain: string, signal: AbortSignal): Promise<MailRoute> => {
    let flight = this.#flights.get(domain);
    if (flight === undefined) {
      flight = this.#findAndStore(domain).finally(() => this.#flights.delete(domain));
      this.#flights.set(domain, flight);
    }
    return abortable(flight, signal).catch((error) => {
      if (!signal.aborted) throw error;
      return { routing: "unknown", reason: "dns_failure" };
    });
  };

  async close(): Promise<void> {
    this.#closing.abort();
    this.#control.close();
    await Promise.allSettled(this.#flights.values());
  }

  async #findAndStore(domain: string): Promise<MailRoute> {
    const known = await this.#memory.route(domain);
    if (known !== undefined) return known;
    const options = { ...this.#settings, control: this.#control };
    const route = await findMailRoute(domain, options, this.#closing.signal);
    // A failure says nothing about the domain, so it is not cached.
    if (route.routing !== "unknown") await this.#memory.storeRoute(domain, route, this.#settings.routeTtlMs);
    return route;
  }
}
