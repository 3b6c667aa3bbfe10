import type { LeaseStore } from "../src/contracts/lease-store.ts";

/** Leases that expire when the test says. */
export function createLeases(): LeaseStore & { readonly asked: number; runOut(): void } {
  const holders = new Map<string, string>();
  let asked = 0;
  return {
    get asked() {
      return asked;
    },
    runOut: () => holders.clear(),
    async acquireLease(key) {
      asked++;
      if (holders.has(key)) return null;
      holders.set(key, String(asked));
      return String(asked);
    },
    renewLease: async (key, proof) => holders.get(key) === proof,
    async releaseLease(key, proof) {
      if (holders.get(key) === proof) holders.delete(key);
    },
  };
}
