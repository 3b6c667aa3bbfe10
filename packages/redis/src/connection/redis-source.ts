import { ServiceError } from "@outrigger/core";
import { type Checked, type RuleTable, rules } from "@outrigger/core/stores";
import { connect, type RedisConnection } from "./redis-connection.ts";
import { OWN_RULES, type RedisOptions } from "./redis-options.ts";

/** A connection of its own, or one that is shared and outlives whoever uses it. */
export type RedisSource =
  | RedisOptions
  | {
      /** Made by `connectRedis`, for several to share; in place of `url` and what belongs to it. Stays open. */
      connection: RedisConnection;
    };

/** A connection until its user is closed. */
export interface OpenConnection extends RedisConnection {
  /** Throws once it is closed. */
  checkOpen(): void;
}

/** All keys of a union, each optional, for a table of rules. */
export type Flat<O> = {
  [K in O extends unknown ? keyof O : never]?: O extends { [Key in K]?: infer V } ? V : never;
};

/** What factories take that make a connection or share one. */
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
 * @param factory whose options they are, for messages.
 * @param user What says in messages that it is closed, such as "store".
 */
export function openConnection(factory: string, source: CheckedSource, user: string): OpenConnection {
  const { url, timeoutMs, tls, onError, connection: shared } = source;
  const own = { url, timeoutMs, tls, onError };
  const isShared = shared !== undefined;
  const ignored = Object.entries(own).flatMap(([name, given]) => (given === undefined ? [] : [name]));
  if (isShared && ignored.length > 0) {
    throw new TypeError(
      `${factory}: connection decides about ${ignored.join(", ")}: leave out one or the other`,
    );
  }
  const connection = shared ?? connect(factory, own);
  let isClosed = false;

  function checkOpen(): void {
    if (isClosed) throw new ServiceError("store_unavailable", `The ${user} is closed.`);
  }

  /** What is under way when it is closed is refused as what comes later. */
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
