import { setMaxListeners } from "node:events";
import { abortable } from "@outrigger/core/stores";
import type { ProberMemory } from "../prober-memory.ts";
import type { ProberSettings } from "../prober-options.ts";
import { findMailRoute } from "./find-mail-route.ts";
import type { MailRoute } from "./mail-route.ts";
import { ResolverControl } from "./resolver-control.ts";

/** Finds the mail route of a domain, with a cache and a single flight per domain. */
export class RouteFinder {
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
