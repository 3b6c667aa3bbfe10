import type { GaugeName, Observer } from "@outrigger/core";
import { Gauge, type Registry } from "prom-client";

const HELP: Readonly<Record<GaugeName, string>> = {
  renders_waiting: "Pictures that wait for a render process.",
  renders_running: "Pictures that a render process works on.",
  jobs_waiting: "Uploads, answered with 202, that wait to be processed.",
  storage_free_bytes: "Bytes that this user may still write on the file systems of data directories.",
  storage_total_bytes: "Bytes of the file systems of data directories.",
  storage_free_inodes: "Files that can still be made on the file systems of data directories.",
  storage_total_inodes: "Files that the file systems of data directories can hold.",
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
