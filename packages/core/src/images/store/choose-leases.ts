import type { StorageRoles } from "../../contracts/blob-store.ts";
import { hasLeases, type LeaseStore } from "../../contracts/lease-store.ts";

/** The store that keeps the leases of renditions. */
export interface LeaseChoice {
  /**
   * `records`: the store of the records. `renditions`: that of the renditions, since that of the records has no leases.
   * `none`: neither has leases, so each process renders for itself. `unshared`: the renditions are in a directory or in memory.
   */
  place: "records" | "renditions" | "none" | "unshared";
  /** `null` for `none` and `unshared`. */
  leases: LeaseStore | null;
}

/**
 * Chooses the store of the leases. Rejects if a store is unavailable, since it may support leases.
 *
 * Renditions in a directory have no leases. Leases elsewhere would make machines wait for files that they do not share.
 */
export async function chooseLeases({
  renditions,
  records,
}: Pick<StorageRoles, "renditions" | "records">): Promise<LeaseChoice> {
  if (!hasLeases(renditions)) return { place: "unshared", leases: null };
  if (hasLeases(records) && (await supportsLeases(records))) return { place: "records", leases: records };
  if (await supportsLeases(renditions)) return { place: "renditions", leases: renditions };
  return { place: "none", leases: null };
}

async function supportsLeases(store: LeaseStore): Promise<boolean> {
  return (await store.leasesSupported?.()) ?? true;
}

/** Warning for logs and checks: the cost of missing leases, and the remedy. */
export const NO_LEASES_WARNING =
  "Neither the storage of the renditions nor that of the records supports leases, so each process renders for itself. " +
  "Keep the records in Redis, or the renditions in a service with conditional writes.";
