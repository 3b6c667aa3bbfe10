import { findMailRoute } from "./dns/find-mail-route.ts";
import type { MailRoute } from "./dns/mail-route.ts";
import { createFlights } from "./flights.ts";
import type { ProberMemory } from "./prober-memory.ts";
import type { ProberSettings } from "./prober-options.ts";

/** Finds where a domain's mail goes, once for all who ask at the same time, and remembers it. */
export interface RouteFinder {
  /** Never rejects. */
  find(domain: string, signal: AbortSignal): Promise<MailRoute>;
  close(): Promise<void>;
}

export function createRouteFinder(settings: ProberSettings, memory: ProberMemory): RouteFinder {
  const flights = createFlights<null, MailRoute>();

  async function findAndKeep(domain: string, signal: AbortSignal): Promise<MailRoute> {
    const known = await memory.route(domain);
    if (known !== undefined) return known;
    const route = await findMailRoute(domain, settings, signal);
    // A failure says nothing of the domain.
    if (route.routing !== "unknown") await memory.keepRoute(domain, route, settings.routeTtlMs);
    return route;
  }

  return {
    async find(domain, signal) {
      const landing = await flights.join(domain, signal, () => ({
        progress: () => null,
        run: (within) => findAndKeep(domain, within),
      }));
      return "result" in landing ? landing.result : { routing: "unknown" };
    },
    close: () => flights.close(),
  };
}
