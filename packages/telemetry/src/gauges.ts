import type { GaugeName, Observer } from "@outrigger/core";
import { Gauge, type Registry } from "prom-client";

const HELP: Readonly<Record<GaugeName, string>> = {
  renders_waiting: "Pictures that wait for a render process.",
  renders_running: "Pictures that a render process works on.",
  jobs_waiting: "Uploads, answered with 202, that wait to be processed.",
};

/** Numbers that are asked for when metrics are collected; of those that nobody ever told, nothing is shown. */
export function createGauges(registry: Registry, prefix: string): { add: Observer["gauge"] } {
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
