import type { Observer } from "@outrigger/core";
import { combineObservers, createMetrics, createTracing, type Metrics } from "@outrigger/telemetry";
import type { ServerSettings } from "../../config/settings.ts";

export interface Observers {
  /** `null` where they are off. */
  metrics: Metrics | null;
  /** All that are on, as one; `null` where none is. */
  observer: Observer | null;
}

/** Who watches the service, as the configuration says. */
export function createObservers(settings: Pick<ServerSettings, "metrics" | "tracing">): Observers {
  const metrics = settings.metrics ? createMetrics({ processMetrics: true }) : null;
  const tracing = settings.tracing ? createTracing() : null;
  const all = [tracing, metrics].filter((each) => each !== null);
  return { metrics, observer: all.length === 0 ? null : combineObservers(...all) };
}
