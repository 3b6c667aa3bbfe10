import KeyvRedis from "@keyv/redis";
import { checkOptions, type RuleTable } from "@outrigger/core/stores";
import { Keyv } from "keyv";
import { PREFIX_RULE } from "./connection/redis-options.ts";
import {
  type Flat,
  type OpenConnection,
  openConnection,
  type RedisSource,
  SOURCE_RULES,
} from "./connection/redis-source.ts";

export type RedisKeyvOptions = RedisSource & {
  /**
   * What all keys begin with, before `::`; 1 to 100 letters, digits and `_.:-`.
   * @default "outrigger"
   */
  namespace?: string;
};

const FACTORY = "createRedisKeyv";
const RULES = { ...SOURCE_RULES, namespace: PREFIX_RULE } satisfies RuleTable<Flat<RedisKeyvOptions>>;

const SCAN_COUNT = 1000;

/**
 * A Keyv for small values, such as verdicts that are kept for a while, on one Redis server or a cluster. For bytes there is
 * the blob store: Keyv would make them text, a third longer.
 *
 * All that fails rejects, with `store_unavailable` or `no_space`; nothing waits for a server for longer than `timeoutMs`.
 * `disconnect()` closes it.
 */
export function createRedisKeyv(options: RedisKeyvOptions): Keyv {
  const { namespace, ...source } = checkOptions(FACTORY, options as Flat<RedisKeyvOptions>, RULES);
  const connection = openConnection(FACTORY, source, "Keyv");
  const store = createStore(connection, namespace);
  return new Keyv(store, { namespace, useKeyPrefix: false, throwOnErrors: true });
}

/** The adapter, on whichever client the connection has, and with its deadline around each method. */
function createStore(connection: OpenConnection, namespace: string): KeyvRedis<unknown> {
  // The client that it makes here is never opened: each method is given the connection's before it runs.
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
      // One that has gone meanwhile has no value.
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
    // Its own one hides that it failed, and both take more than a round trip.
    iterator,
    async clear() {
      for await (const names of pagesOfNames(connection, namespace)) {
        await Promise.all(names.map((name) => connection.call(name, ["UNLINK", name])));
      }
    },
    disconnect: () => connection.close(),
  });
}

async function* pagesOfNames(connection: OpenConnection, namespace: string): AsyncGenerator<string[]> {
  for (const { send } of await connection.nodes()) {
    let cursor = "0";
    do {
      const match = ["MATCH", `${namespace}::*`, "COUNT", String(SCAN_COUNT), "TYPE", "string"];
      const [next, names] = (await send(["SCAN", cursor, ...match])) as [Buffer, Buffer[]]; // As SCAN answers.
      cursor = String(next);
      if (names.length > 0) yield names.map(String);
    } while (cursor !== "0");
  }
}
