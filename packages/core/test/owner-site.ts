import { setImmediate as turn } from "node:timers/promises";
import type { BlobStore } from "../src/contracts/blob-store.ts";
import { type CheckedLimits, OwnerUsage, type Usage } from "../src/images/owners/owner-usage.ts";
import { NameIndex } from "../src/stores/name-index.ts";

/** The usage of owners, by positional arguments. */
export interface SiteUsage {
  reserve(owner: string, id: string, bytes: number, limits: CheckedLimits): Promise<void>;
  release(owner: string, id: string, bytes: number): Promise<void>;
  settle(owner: string, id: string): void;
  usage(owner: string): Promise<Usage>;
}

/** A store with a clock and records, and any number of processes on it. */
export function createOwnerSite(store: BlobStore) {
  const records = new Set<string>();
  const site = {
    records,
    nowMs: 1_700_000_000_000,
    /** @param isOwned Whether the owner has the image. @default whether it has a record */
    start(on = store, isOwned = async (id: string) => records.has(id)): SiteUsage {
      const owners = new OwnerUsage({
        store: on,
        index: new NameIndex(on, "owned"),
        now: () => site.nowMs,
        async isOwned(_owner, id) {
          await turn();
          return isOwned(id);
        },
      });
      const image = (name: string, id: string, bytes = 0) => ({ id, createdAt: 0, owner: { name, bytes } });
      return {
        reserve: (name, id, bytes, limits) => owners.reserve(image(name, id, bytes), limits),
        release: (name, id, bytes) => owners.release(image(name, id, bytes)),
        settle: (name, id) => owners.settle(image(name, id)),
        usage: (name) => owners.usage(name),
      };
    },
  };
  return site;
}
