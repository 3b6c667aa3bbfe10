import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { type BlobStore, hasLeases, type LeaseStore } from "@outrigger/core/stores";

export type LeasingStore = BlobStore & LeaseStore;

/** Longer than every case. */
export const LONG_MS = 600_000;
/** Pause between two attempts to acquire a lease. */
export const POLL_MS = 25;

/** The store, which must have leases. */
export function withLeases(store: BlobStore): LeasingStore {
  assert.ok(hasLeases(store), "the store has no leases");
  return store;
}

/** Acquires a lease that must be free. @returns its proof. */
export async function acquired(store: LeaseStore, key: string, leaseMs = LONG_MS): Promise<string> {
  const proof = await store.acquireLease(key, leaseMs);
  assert.ok(proof !== null, "the lease is held");
  return proof;
}

/** Retries until the lease is free. */
export async function untilAcquired(store: LeaseStore, key: string): Promise<string> {
  for (;;) {
    const proof = await store.acquireLease(key, LONG_MS);
    if (proof !== null) return proof;
    await delay(POLL_MS);
  }
}
