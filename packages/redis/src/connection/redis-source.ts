import { ServiceError } from "@outrigger/core";
import { type Checked, type RuleTable, rules } from "@outrigger/core/stores";
import { connect, type RedisConnection } from "./redis-connection.ts";
import { OWN_RULES, type RedisOptions } from "./redis-options.ts";

/** Options of a separate connection, or a shared connection that outlives its users. */
export type RedisSource =
  | RedisOptions
  | {
      /**
       * A connection made by `connectRedis`, instead of `url` and its options. Several may share it. It stays
       * open.
       */
      connection: RedisConnection;
    };

/** A connection that is usable until its user, such as a store, is closed. */
export interface OpenConnection extends RedisConnection {
  /** Throws if the user is closed. */
  checkOpen(): void;
}

/** All keys of a union, each optional, for a table of rules. */
export type Flat<O> = {
  [K in O extends unknown ? keyof O : never]?: O extends { [Key in K]?: infer V } ? V : never;
};

/** Options of factories that open a connection or share one. */
export const SOURCE_RULES = {
  ...OWN_RULES,
  connection: rules.shape(
    "a connection that connectRedis() returned",
    "call",
    "run",
    "use",
    "nodes",
    "close",
  ),
} satisfies RuleTable<Flat<RedisSource>>;

type CheckedSource = Checked<Flat<RedisSource>, typeof SOURCE_RULES>;

/**
 * @param factory Name of the factory that takes the options, for messages.
 * @param user Noun for the user of the connection in messages, such as "store".
 */
export function openConnection(factory: string, source: CheckedSource, user: string): OpenConnection {
  const { url, timeoutMs, tls, onError, connection: shared } = source;
  const own = { url, timeoutMs, tls, onError };
  const isShared = shared !== undefined;
  const ignored = Object.entries(own).flatMap(([name, given]) => (given === undefined ? [] : [name]));
  if (isShared && ignored.length > 0) {
    throw new TypeError(
      `${factory}: connection already determines ${ignored.join(", ")}: pass either connection or these`,
    );
  }
  const connection = shared ?? connect(factory, own);
  let isClosed = false;

  function checkOpen(): void {
    if (isClosed) throw new ServiceError("store_unavailable", `The ${user} is closed.`);
  }

  /** Rejects calls that are under way at `close` like later calls. */
  async function whileOpen<T>(work: () => Promise<T>): Promise<T> {
    checkOpen();
    const result = await work();
    checkOpen();
    return result;
  }

  return {
    timeoutMs: connection.timeoutMs,
    isCluster: connection.isCluster,
    checkOpen,
    call: (...args) => whileOpen(() => connection.call(...args)),
    run: (...args) => whileOpen(() => connection.run(...args)),
    use: (work) => whileOpen(() => connection.use(work)),
    nodes: () => whileOpen(() => connection.nodes()),
    async close() {
      isClosed = true;
      if (!isShared) await connection.close();
    },
  };
}
