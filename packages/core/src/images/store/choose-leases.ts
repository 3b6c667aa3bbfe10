import { hasLeases, type LeaseStore } from "../../contracts/lease-store.ts";
import type { StorageRoles } from "../record/storage-roles.ts";

/** Where the leases of renditions are kept. */
export interface LeaseChoice {
  /**
   * `renditions`: in their own store. `records`: beside the records, since the store of the renditions cannot keep any.
   * `none`: neither can, so each process renders for itself. `unshared`: the renditions are in a directory or in memory.
   */
  place: "renditions" | "records" | "none" | "unshared";
  /** `null` for `none` and `unshared`. */
  leases: LeaseStore | null;
}

/**
 * Chooses the store of the leases. Rejects when a store cannot be asked now: a store that is away may well have leases.
 *
 * Renditions in a directory have no leases at all. Leases elsewhere would make machines wait for files that they do not share.
 */
export async function chooseLeases({
  renditions,
  records,
}: Pick<StorageRoles, "renditions" | "records">): Promise<LeaseChoice> {
  if (!hasLeases(renditions)) return { place: "unshared", leases: null };
  if (await supportsLeases(renditions)) return { place: "renditions", leases: renditions };
  if (hasLeases(records) && (await supportsLeases(records))) return { place: "records", leases: records };
  return { place: "none", leases: null };
}

async function supportsLeases(store: LeaseStore): Promise<boolean> {
  return (await store.leasesSupported?.()) ?? true;
}

/** What a node without leases costs, and the remedy, for logs and checks. */
export const NO_LEASES_WARNING =
  "Neither the storage of the renditions nor that of the records has leases, so each process renders for itself. " +
  "Keep the records in Redis, or the renditions in a service with conditional writes.";
