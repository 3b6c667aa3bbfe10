import { ServiceError } from "@outrigger/core";
import { connectRedis, type RedisConnection } from "./redis-connection.ts";
import type { RedisOptions } from "./redis-options.ts";

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

/** @param user What says in messages that it is closed, such as "store". */
export function openConnection(source: RedisSource, user: string): OpenConnection {
  const isShared = "connection" in source;
  const connection = isShared ? source.connection : connectRedis(source);
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
