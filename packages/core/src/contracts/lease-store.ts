/**
 * Optional ability of a store: leases, shared like its blobs, for work that one process should do for all. They are advice,
 * not locks: a suspended holder finds out late that another one holds its lease, so the work of both must do no harm. The
 * clocks of the holders do not matter.
 *
 * A key is of the grammar of blobs, and has nothing to do with the blob of the same key. An argument of another
 * form rejects with `bad_request`; any other failure as with blobs.
 */
export interface LeaseStore {
  /**
   * Whether the service behind the store can keep leases. Neither answer changes while the store is open. After `false`,
   * {@link acquireLease} rejects with `store_unavailable`, so leases are kept elsewhere. Rejects while the service cannot be
   * asked, which says nothing about leases. Absent: it can.
   */
  leasesSupported?(): Promise<boolean>;
  /**
   * Acquires the lease, unless it is held. A lease that is neither renewed nor released is free again after `leaseMs`. In a
   * store without a clock that time begins with the first attempt to acquire it in vain.
   * @param leaseMs An integer of 100 to 3,600,000.
   * @returns the proof, an opaque text; `null`: the lease is held.
   */
  acquireLease(key: string, leaseMs: number): Promise<string | null>;
  /** Prolongs the lease to `leaseMs` from now. @returns whether it was still held with this proof. */
  renewLease(key: string, proof: string, leaseMs: number): Promise<boolean>;
  /** Releases the lease at once. Does nothing to a lease that is not held with this proof. */
  releaseLease(key: string, proof: string): Promise<void>;
}

export function hasLeases(store: object): store is LeaseStore {
  return "acquireLease" in store && "renewLease" in store && "releaseLease" in store;
}

/** Whether `leaseMs` is of the form that {@link LeaseStore.acquireLease} documents. */
export function isLeaseLength(leaseMs: number): boolean {
  return Number.isInteger(leaseMs) && leaseMs >= 100 && leaseMs <= 3_600_000;
}
