import type { GaugeName, Observer } from "@outrigger/core";
import { checkOptions, rules } from "@outrigger/core/stores";
import { createMeters } from "./meters.ts";
import { outcomeOfError } from "./outcome.ts";
import type { PrometheusClient, PrometheusRegistry, Registries } from "./prometheus-client.ts";

const RULES = {
  /** The module `prom-client`, or `@prometheus-io/client`, its successor, which needs Node 22. Your app installs it. */
  client: rules.required(
    rules.shape<PrometheusClient>("prom-client or @prometheus-io/client", "Counter", "Gauge", "Histogram"),
  ),
  /** Registry of the metrics, by the same module, e.g. the one that your app exposes. A second service needs another. @default a new registry */
  registry: rules.shape<PrometheusRegistry>("a Registry of the client", "registerMetric", "metrics"),
};

export interface MetricsOptions extends rules.Options<typeof RULES> {}

/** An observer that counts. Labels are names from fixed lists, so the number of series is bounded. */
export interface Metrics extends Observer {
  /** Content type of `text()`. */
  readonly contentType: string;
  /** All metrics of the registry in the text format of Prometheus. */
  text(): Promise<string>;
}

/**
 * Creates metrics for Prometheus.
 * Throws if the registry already has metrics with these names.
 * @example
 * import * as client from "prom-client";
 * const metrics = createMetrics({ client });
 * const images = createImages({ storage, renderer, observer: metrics });
 * app.get("/metrics", async (req, res) => res.type(metrics.contentType).send(await metrics.text()));
 */
export function createMetrics(options: MetricsOptions): Metrics {
  const { client, ...given } = checkOptions("createMetrics", options, RULES);
  const { Counter, Gauge, Registry } = client;
  const registry = given.registry ?? new Registry();
  const registers = [registry] as Registries;
  const meters = createMeters(client, registers);
  const gauges = createGauges(client, registers);
  const served = new Counter({
    name: "outrigger_served_total",
    help: "Pictures by origin: memory, store, rendered, or missing: an original that is lost.",
    labelNames: ["from"],
    registers,
  });
  const waiting = new Gauge({
    name: "outrigger_waiting",
    help: "Callers that wait for a connection, or for a rendition of another process.",
    labelNames: ["for"],
    registers,
  });

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    async observe(operation, work, outcomeOf) {
      const startedAt = performance.now();
      let outcome = "ok";
      if (operation.kind === "wait") waiting.inc({ for: operation.for });
      try {
        const result = await work();
        if (outcomeOf !== undefined) outcome = outcomeOf(result);
        return result;
      } catch (error) {
        outcome = outcomeOfError(error);
        throw error;
      } finally {
        if (operation.kind === "wait") waiting.dec({ for: operation.for });
        meters[operation.kind](operation, outcome, (performance.now() - startedAt) / 1000);
      }
    },
    served: (from) => served.inc({ from }),
    answered({ operation, status, from, startedAt }) {
      if (from !== null) served.inc({ from });
      meters.request(operation, status, (performance.now() - startedAt) / 1000);
    },
    gauge: gauges.add,
  };
}

const HELP: Readonly<Record<GaugeName, string>> = {
  renders_waiting: "Pictures that wait for a render process.",
  renders_running: "Pictures that are being rendered.",
  sandbox_bubblewrap: "Services whose render processes are confined by bubblewrap.",
  sandbox_none: "Services whose render processes are not confined.",
  jobs_waiting: "Uploads, answered with 202, that wait to be processed.",
  due_oldest_seconds: "Age of the oldest entry that is due for the sweep.",
  images_held: "Images that wait for review. At most 1000; each process counts the whole storage.",
  reports_overdue:
    "Reports that are due and not decided. At most 1000; each process counts the whole storage.",
  events_waiting: "Images with undelivered events. At most 1000; each process counts the whole storage.",
  events_oldest_seconds: "Age of the oldest undelivered event. Each process measures the whole storage.",
  events_dead: "Events that this process gave up, since its start.",
  storage_free_bytes: "Bytes that this user can still write to the file systems of data directories.",
  storage_total_bytes: "Size in bytes of the file systems of data directories.",
  storage_free_inodes: "Files that can still be created on the file systems of data directories.",
  storage_total_inodes: "Maximum number of files on the file systems of data directories.",
};

/** Gauges, read when metrics are collected. A gauge without a reader is not exposed. */
function createGauges({ Gauge }: PrometheusClient, registers: Registries): { add: Observer["gauge"] } {
  const gauges = new Map<GaugeName, Set<() => number>>();

  function create(name: GaugeName): Set<() => number> {
    const readers = new Set<() => number>();
    new Gauge({
      name: `outrigger_${name}`,
      help: HELP[name],
      registers,
      collect() {
        let sum = 0;
        for (const read of readers) sum += read();
        this.set(sum);
      },
    });
    gauges.set(name, readers);
    return readers;
  }

  return {
    add(name, read) {
      const readers = gauges.get(name) ?? create(name);
      // Wrapped, because the same function passed twice would otherwise count once.
      const reader = () => read();
      readers.add(reader);
      return () => void readers.delete(reader);
    },
  };
}
