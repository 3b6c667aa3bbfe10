import type { GaugeName, Observer } from "@outrigger/core";
import { checkOptions, type RuleTable, rules } from "@outrigger/core/stores";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { createMeters } from "./meters.ts";
import { outcomeOfError } from "./outcome.ts";

export interface MetricsOptions {
  /** Where the metrics are registered, e.g. the one that your app already exposes. @default one of their own */
  registry?: Registry;
  /** What their names begin with; another one for a second service on the same registry. @default "outrigger_" */
  prefix?: string;
  /** Adds memory, processor, event loop and garbage collection of the process: `process_*` and `nodejs_*`. @default false */
  processMetrics?: boolean;
}

const RULES = {
  registry: rules.shape("a Registry of prom-client", "registerMetric", "metrics"),
  prefix: rules.preset(
    "outrigger_",
    rules.text("the beginning of a metric's name: letters, digits and _", (prefix) =>
      /^(?:[a-zA-Z_:][\w:]*)?$/.test(prefix),
    ),
  ),
  processMetrics: rules.preset(false, rules.flag()),
} satisfies RuleTable<MetricsOptions>;

/** An observer that counts. Labels are names from fixed lists: however many addresses are asked for, series do not grow. */
export interface Metrics extends Observer {
  /** Of `text()`. */
  readonly contentType: string;
  /** Everything in the registry as Prometheus reads it. */
  text(): Promise<string>;
}

/**
 * Metrics for Prometheus.
 * Throws where the registry has metrics of these names already.
 * @example
 * const metrics = createMetrics();
 * const images = createImages({ storage, renderer, observer: metrics });
 * app.get("/metrics", async (req, res) => res.type(metrics.contentType).send(await metrics.text()));
 */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { registry = new Registry(), prefix, processMetrics } = checkOptions("createMetrics", options, RULES);
  const meters = createMeters(registry, prefix);
  const gauges = createGauges(registry, prefix);
  const served = new Counter({
    name: `${prefix}served_total`,
    help: "Pictures that were found in memory or in a store, or rendered.",
    labelNames: ["from"],
    registers: [registry],
  });
  if (processMetrics) collectDefaultMetrics({ register: registry });

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    async observe(operation, work, outcomeOf) {
      const startedAt = performance.now();
      let outcome = "ok";
      try {
        const result = await work();
        if (outcomeOf !== undefined) outcome = outcomeOf(result);
        return result;
      } catch (error) {
        outcome = outcomeOfError(error);
        throw error;
      } finally {
        meters[operation.kind](operation, outcome, (performance.now() - startedAt) / 1000);
      }
    },
    served: (from) => served.inc({ from }),
    gauge: gauges.add,
  };
}

const HELP: Readonly<Record<GaugeName, string>> = {
  renders_waiting: "Pictures that wait for a render process.",
  renders_running: "Pictures that a render process works on.",
  jobs_waiting: "Uploads, answered with 202, that wait to be processed.",
  storage_free_bytes: "Bytes that this user may still write on the file systems of data directories.",
  storage_total_bytes: "Bytes of the file systems of data directories.",
  storage_free_inodes: "Files that can still be made on the file systems of data directories.",
  storage_total_inodes: "Files that the file systems of data directories can hold.",
};

/** Numbers that are read when metrics are collected. A gauge without a reader is not shown. */
function createGauges(registry: Registry, prefix: string): { add: Observer["gauge"] } {
  const gauges = new Map<GaugeName, Set<() => number>>();

  function create(name: GaugeName): Set<() => number> {
    const readers = new Set<() => number>();
    new Gauge({
      name: prefix + name,
      help: HELP[name],
      registers: [registry],
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
      // Its own, or the same function given twice would count once.
      const reader = () => read();
      readers.add(reader);
      return () => void readers.delete(reader);
    },
  };
}
