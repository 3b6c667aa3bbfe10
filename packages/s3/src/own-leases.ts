/** What this process knows of the leases that it holds, by the clock that nobody sets. */
export interface OwnLeases {
  remember(key: string, proof: string, own: OwnLease): void;
  /** `undefined` where nothing is known, which says nothing about who holds the lease. */
  find(key: string, proof: string): OwnLease | undefined;
  forget(key: string, proof: string): void;
}

export interface OwnLease {
  /** Of the object that was written last. */
  revision: string;
  /** Until when nobody can have taken its place, by `performance.now()`. */
  untilMs: number;
}

export function createOwnLeases(): OwnLeases {
  const leases = new Map<string, OwnLease>();
  const nameOf = (key: string, proof: string) => `${key} ${proof}`;
  return {
    remember(key, proof, own) {
      // At the end of the map, so that the first ones are those that nobody has cared for the longest.
      leases.delete(nameOf(key, proof));
      leases.set(nameOf(key, proof), own);
      for (const [name, { untilMs }] of leases) {
        if (untilMs > performance.now()) break;
        leases.delete(name);
      }
    },
    find: (key, proof) => leases.get(nameOf(key, proof)),
    forget: (key, proof) => void leases.delete(nameOf(key, proof)),
  };
}
