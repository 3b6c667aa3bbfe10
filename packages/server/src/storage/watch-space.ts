import { statfsSync, statSync } from "node:fs";
import type { GaugeName, Observer } from "@outrigger/core";
import type { StorageTarget } from "../config/targets/storage-target.ts";

/** Has an observer ask for the room on the file systems of data directories, each once. */
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
    // btrfs and others make inodes as they need them, and report none.
    if (read().files === 0) continue;
    add("storage_free_inodes", ({ ffree }) => ffree);
    add("storage_total_inodes", ({ files }) => files);
  }
}

/** What a file system says of itself; the last answer where it cannot be asked any more. */
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
