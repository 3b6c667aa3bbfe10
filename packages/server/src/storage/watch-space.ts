import { statfsSync, statSync } from "node:fs";
import type { GaugeName, Observer } from "@outrigger/core";
import type { StorageTarget } from "@outrigger/core/stores";

/** Registers gauges for the free space of the file systems of data directories, each file system once. */
export function watchSpace(targets: readonly { target: StorageTarget }[], observer: Observer): void {
  const devices = new Set<number>();
  for (const { target } of targets) {
    if (target.kind !== "file") continue;
    const { directory } = target;
    const { dev } = statSync(directory);
    if (devices.has(dev)) continue;
    devices.add(dev);
    const read = readerOf(directory);
    const add = (name: GaugeName, number: (stats: ReturnType<typeof read>) => number) =>
      observer.gauge(name, () => number(read()));
    add("storage_free_bytes", ({ bavail, bsize }) => bavail * bsize);
    add("storage_total_bytes", ({ blocks, bsize }) => blocks * bsize);
    // btrfs and others allocate inodes on demand and report none.
    if (read().files === 0) continue;
    add("storage_free_inodes", ({ ffree }) => ffree);
    add("storage_total_inodes", ({ files }) => files);
  }
}

/** Reads the statistics of a file system; if that fails, returns the last ones. */
function readerOf(directory: string) {
  let last = statfsSync(directory);
  return () => {
    try {
      last = statfsSync(directory);
    } catch {
      // Gauges must not fail with the disk: readiness reports its error.
    }
    return last;
  };
}
