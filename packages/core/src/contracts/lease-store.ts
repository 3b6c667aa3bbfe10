/**
 * Optional ability of a store: leases, shared like its blobs, for work that one process should do for all. They are advice,
 * not locks: a holder that was suspended finds out late that somebody else holds its lease, so that what two of them do must
 * do no harm. No clock of the holders matters.
 *
 * A key is of the grammar of blobs, and has nothing to do with the blob of the same key. Whatever an argument is not of the
 * form told here rejects with `bad_request`; any other failure as with blobs.
 */
export interface LeaseStore {
  /**
   * Whether the service behind the store can keep leases. Neither answer changes while the store is open. After `false`,
   * {@link acquireLease} rejects with `store_unavailable`, so leases are kept elsewhere. Rejects while the service cannot be
   * asked, which says nothing about leases. Absent: it can.
   */
  leasesSupported?(): Promise<boolean>;
  /**
   * Takes the lease, unless it is held. One that its holder neither renews nor releases is free again after `leaseMs`, or, in
   * stores without a clock of their own, once somebody has asked for it in vain for so long.
   * @param leaseMs an integer of 100 to 3,600,000.
   * @returns what proves it: an opaque text; `null` where somebody holds it.
   */
  acquireLease(key: string, leaseMs: number): Promise<string | null>;
  /** Prolongs the lease to `leaseMs` from now. @returns whether it was still held with this proof. */
  renewLease(key: string, proof: string, leaseMs: number): Promise<boolean>;
  /** Gives the lease back at once; one that is not held with this proof is left alone. */
  releaseLease(key: string, proof: string): Promise<void>;
}

export function hasLeases(store: object): store is LeaseStore {
  return "acquireLease" in store && "renewLease" in store && "releaseLease" in store;
}

/** Whether `leaseMs` is of the form that {@link LeaseStore.acquireLease} documents. */
export function isLeaseLength(leaseMs: number): boolean {
  return Number.isInteger(leaseMs) && leaseMs >= 100 && leaseMs <= 3_600_000;
}
