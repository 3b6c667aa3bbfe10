import { setImmediate as turn } from "node:timers/promises";
import type { BlobStore } from "../src/contracts/blob-store.ts";
import { createOwnerUsage, type OwnerUsage } from "../src/images/owners/owner-usage.ts";

/** A store with a clock and records, and any number of processes on it. */
export function createOwnerSite(store: BlobStore, epochChanges?: number) {
  const records = new Set<string>();
  const site = {
    records,
    nowMs: 1_700_000_000_000,
    asked: [] as string[],
    start: (on = store): OwnerUsage =>
      createOwnerUsage({
        store: on,
        now: () => site.nowMs,
        async isOwned(_owner, id) {
          site.asked.push(id);
          await turn();
          return records.has(id);
        },
        ...(epochChanges === undefined ? {} : { epochChanges }),
      }),
  };
  return site;
}
