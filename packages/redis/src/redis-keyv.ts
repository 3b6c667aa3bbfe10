import KeyvRedis from "@keyv/redis";
import { checkOptions, type rules } from "@outrigger/core/stores";
import { Keyv } from "keyv";
import { RedisConnection } from "./connection/redis-connection.ts";
import { CONNECTION_RULES, PREFIX_RULE, readOptions } from "./connection/redis-options.ts";

const RULES = {
  ...CONNECTION_RULES,
  /** Prefix of all keys, before `::`: 1 to 100 letters, digits and `_.:-`. @default "outrigger" */
  namespace: PREFIX_RULE,
};

export interface RedisKeyvOptions extends rules.Options<typeof RULES> {}

const SCAN_COUNT = 1000;

/**
 * A Keyv for small values, such as cached verdicts, on one Redis server or a cluster. Use the blob store for bytes:
 * Keyv would encode them as text, a third longer.
 *
 * Every failure rejects with `store_unavailable` or `no_space`. No call waits for a server longer than
 * `timeoutMs`.
 * `disconnect()` closes the Keyv.
 */
export function createRedisKeyv(options: RedisKeyvOptions): Keyv {
  const { namespace, ...given } = checkOptions("createRedisKeyv", options, RULES);
  const connection = new RedisConnection(readOptions(given), "Keyv");
  const store = createStore(connection, namespace);
  return new Keyv(store, { namespace, useKeyPrefix: false, throwOnErrors: true });
}

/** The adapter. Each method uses the connection's current client and its deadline. */
function createStore(connection: RedisConnection, namespace: string): KeyvRedis<unknown> {
  // The client created here is never opened: `guarded` replaces it with the connection's client before each
  // method.
  const store = new KeyvRedis<unknown>({ disableOfflineQueue: true }, { namespace, throwOnErrors: true });

  function guarded<A extends unknown[], T>(method: (...args: A) => Promise<T>) {
    return (...args: A): Promise<T> =>
      connection.use((client) => {
        if (store.client !== client) store.client = client;
        return method.apply(store, args);
      });
  }

  async function* iterator(): AsyncGenerator<[string, unknown], void, unknown> {
    for await (const names of pagesOfNames(connection, namespace)) {
      const keys = names.map((name) => name.slice(namespace.length + 2));
      const values = await getMany(keys);
      // A key that has expired meanwhile has no value.
      for (const [index, key] of keys.entries()) {
        if (values[index] !== undefined && values[index] !== null) yield [key, values[index]];
      }
    }
  }

  const getMany = guarded(store.getMany);
  return Object.assign(store, {
    get: guarded(store.get),
    getMany,
    set: guarded(store.set),
    setMany: guarded(store.setMany),
    has: guarded(store.has),
    hasMany: guarded(store.hasMany),
    delete: guarded(store.delete),
    deleteMany: guarded(store.deleteMany),
    // Keyv's own `iterator` and `clear` take more than one round trip, and `clear` hides failures.
    iterator,
    async clear() {
      for await (const names of pagesOfNames(connection, namespace)) {
        await Promise.all(names.map((name) => connection.call(name, ["UNLINK", name])));
      }
    },
    disconnect: () => connection.close(),
  });
}

async function* pagesOfNames(connection: RedisConnection, namespace: string): AsyncGenerator<string[]> {
  for (const { send } of await connection.nodes()) {
    let cursor = "0";
    do {
      const match = ["MATCH", `${namespace}::*`, "COUNT", String(SCAN_COUNT), "TYPE", "string"];
      const [next, names] = (await send(["SCAN", cursor, ...match])) as [Buffer, Buffer[]]; // The reply of SCAN.
      cursor = String(next);
      if (names.length > 0) yield names.map(String);
    } while (cursor !== "0");
  }
}
