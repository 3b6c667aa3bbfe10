/**
 * Optional ability of a store: leases, shared like its blobs, for work that one process does on behalf of
 * all. Leases are advisory, not locks: a suspended holder notices late that another process acquired its
 * lease. The work of two holders at once must therefore do no harm. The clocks of the holders do not matter.
 *
 * A key has the grammar of a blob key, but is independent of the blob with that key. An argument of another
 * form rejects with `bad_request`; other failures reject as they do for blobs.
 */
export interface LeaseStore {
  /**
   * Whether the service behind the store supports leases. The answer does not change while the store is open.
   * After `false`, {@link acquireLease} rejects with `store_unavailable`, and the caller keeps leases
   * elsewhere. Rejects while the service is unreachable, which says nothing about leases. Absent: leases are
   * supported.
   */
  leasesSupported?(): Promise<boolean>;
  /**
   * Acquires the lease unless it is held. A lease that is neither renewed nor released expires after
   * `leaseMs`. In a store without a clock, that time begins with the first failed attempt to acquire it.
   * @param leaseMs An integer from 100 to 3,600,000.
   * @returns the proof, an opaque string; `null`: the lease is held.
   */
  acquireLease(key: string, leaseMs: number): Promise<string | null>;
  /** Extends the lease to `leaseMs` from now. @returns whether this proof still held it. */
  renewLease(key: string, proof: string, leaseMs: number): Promise<boolean>;
  /** Releases the lease at once. A lease that this proof does not hold stays unchanged. */
  releaseLease(key: string, proof: string): Promise<void>;
}

export function hasLeases(store: object): store is LeaseStore {
  return "acquireLease" in store && "renewLease" in store && "releaseLease" in store;
}

/** Whether `leaseMs` has the form that {@link LeaseStore.acquireLease} documents. */
export function isLeaseLength(leaseMs: number): boolean {
  return Number.isInteger(leaseMs) && leaseMs >= 100 && leaseMs <= 3_600_000;
}
