// The stores of a node, broken on purpose where the test must prove that it finds the fault.
import { openStorage as openStores } from "../../backends/open-storage.mjs";

/** The defaults, so that a node which was suspended for longer finds its calls timed out. */
const DEFAULTS = {
  redis: { timeoutMs: 2000, supersededMs: 60_000 },
  postgres: { timeoutMs: 2000 },
};
const STALE_MS = 60_000;

const MUTANTS = {
  // Caches a record for a minute.
  "stale records": (store) => {
    const known = new Map();
    return {
      async get(key, options) {
        const read = known.get(key);
        if (read !== undefined && Date.now() < read.untilMs) return read.blob;
        const blob = await store.get(key, options);
        if (key.endsWith("/record")) known.set(key, { blob, untilMs: Date.now() + STALE_MS });
        return blob;
      },
    };
  },
  // Every node ignores the leases of others.
  "no leases": () => ({ acquireLease: undefined, renewLease: undefined, releaseLease: undefined }),
  // Overwrites whatever is stored.
  "unconditional writes": (store) => ({
    put: (key, body, { ifRevision: _, ...options } = {}) => store.put(key, body, options),
  }),
};

/** @returns the roles, and how many calls have named an ID */
export function openStorage({ records, pictures }, mutant) {
  const counts = new Map();
  const change = mutant === undefined ? () => ({}) : MUTANTS[mutant];
  const open = (store) => counted({ ...store, ...change(store) }, counts);
  const store = open(openStores({ records: { ...records, ...DEFAULTS[records.kind] } }));
  const others = pictures === undefined ? store : open(openStores({ records: pictures }));
  return {
    roles: { records: store, originals: others, renditions: others },
    calls: (id) => counts.get(id) ?? 0,
  };
}

/** The store with the mutant's fault; its calls are counted by the ID in their first argument. */
function counted(store, counts) {
  const members = Object.entries(store).filter(([, value]) => value !== undefined);
  const count = (method, ...args) => {
    const id = /[A-Za-z0-9_-]{22}/.exec(String(args[0]))?.[0];
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
    return method(...args);
  };
  return Object.fromEntries(
    members.map(([name, value]) => [name, typeof value === "function" ? count.bind(null, value) : value]),
  );
}
