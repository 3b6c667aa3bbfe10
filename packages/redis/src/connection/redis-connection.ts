import { createHash } from "node:crypto";
import { ServiceError } from "@outrigger/core";
import { checkOptions } from "@outrigger/core/stores";
import { isError } from "@outrigger/core/values";
import { beforeDeadline } from "./before-deadline.ts";
import { createDiagnosis } from "./diagnosis.ts";
import {
  createDriver,
  type RedisArguments,
  type RedisClient,
  type RedisDriver,
  type RedisNode,
  type RedisReply,
} from "./redis-driver.ts";
import { isDemoted, isReplyError, RedisTimeoutError, toServiceError } from "./redis-errors.ts";
import { CONNECTION_RULES, type RedisOptions, type RedisSettings, readOptions } from "./redis-options.ts";
import { createSentinelDriver } from "./sentinel-driver.ts";

/** A Lua script that the server runs atomically. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

/**
 * A connection that stores and limiters may share. It reconnects by itself. Every failure is a
 * `ServiceError`.
 */
export interface RedisConnection {
  /** How long one round trip may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether keys are spread over several servers. */
  readonly isCluster: boolean;
  /** Runs a command on the server that holds `key`. */
  call(key: string, args: RedisArguments): Promise<RedisReply>;
  /** Runs a script on `keys`: at least one, all in one slot. */
  run(script: RedisScript, keys: readonly [string, ...string[]], args: RedisArguments): Promise<RedisReply>;
  /** Makes one round trip with the library's client. The next call may get another client. */
  use<T>(work: (client: RedisClient) => Promise<T>): Promise<T>;
  /** The servers that hold keys, in a stable order. */
  nodes(): Promise<RedisNode[]>;
  /** Closes the connection: calls under way and all later calls reject. May be called twice. */
  close(): Promise<void>;
}

type GivenOptions = { [K in keyof RedisOptions]: RedisOptions[K] | undefined };

function openDriver(settings: RedisSettings): RedisDriver {
  const { sentinel } = settings;
  return sentinel === null ? createDriver(settings) : createSentinelDriver(settings, sentinel);
}

/** Minimum pause between two replacements of a silent client. */
const RENEWAL_PAUSE_MS = 500;

export function createScript(text: string): RedisScript {
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}

/**
 * Opens a connection that stores, limiters and caches can share. Returns at once and connects in the background;
 * calls reject if connecting fails.
 *
 * The caller closes the connection. A store or limiter leaves a `connection` that it was given open; with a `url`
 * it opens and closes its own.
 */
export function connectRedis(options: RedisOptions): RedisConnection {
  return connect("connectRedis", options);
}

/** @param factory Name of the factory that takes the options, for messages. */
export function connect(factory: string, options: GivenOptions): RedisConnection {
  const settings = readOptions(checkOptions(factory, options, CONNECTION_RULES));
  const { timeoutMs } = settings;
  let driver = openDriver(settings);
  const diagnosis = createDiagnosis(settings);
  let isRenewing = false;
  let renewedAt = performance.now();
  let isClosed = false;
  /** A driver that has answered: calls need not wait for its first connection. Never one with Sentinels. */
  let answering: RedisDriver | undefined;

  /**
   * Replaces a client that may have lost its server without noticing: a hung machine, a cluster that has
   * moved.
   */
  async function renew(): Promise<void> {
    if (isClosed || isRenewing || performance.now() - renewedAt < RENEWAL_PAUSE_MS) return;
    isRenewing = true;
    const next = openDriver(settings);
    try {
      await beforeDeadline(next.connected, timeoutMs);
      const [retired, kept] = isClosed ? [next, driver] : [driver, next];
      driver = kept;
      // By then the deadline of its last call has passed.
      retired.retire(isClosed ? 0 : timeoutMs + 1000);
    } catch {
      next.retire(0); // The new client is no better; the calls report why.
    } finally {
      renewedAt = performance.now();
      isRenewing = false;
    }
  }

  async function whenConnected<T>(
    current: RedisDriver,
    work: (current: RedisDriver) => Promise<T>,
    isOver: () => boolean,
  ): Promise<T> {
    // If the first attempt failed, the call itself fails too, with the latest error.
    await current.connected.catch(() => undefined);
    if (current.isRetired()) throw new Error("The connection was closed.");
    // A server that recovers after the deadline must not receive the rejected call.
    if (isOver()) throw new RedisTimeoutError(timeoutMs);
    try {
      const result = await work(current);
      diagnosis.answered();
      if (current.doubt === undefined) answering = current;
      return result;
    } catch (error) {
      throw await diagnosis.explain(isReplyError(error) ? error : (current.trouble() ?? error));
    }
  }

  /** Acts on a failed call. @returns the error for its caller. */
  function failed(current: RedisDriver, error: unknown): unknown {
    const isReply = isReplyError(error);
    const isSilent = error instanceof RedisTimeoutError;
    if (current.doubt !== undefined) {
      if (!isReply || isDemoted(error)) current.doubt();
    } else if (isSilent || (settings.isCluster && !isReply)) {
      // The client of a single server reconnects by itself when it notices the loss; that of a cluster
      // seeks no other node.
      void renew();
    }
    return (isSilent && diagnosis.found()) || toServiceError(error);
  }

  /** Makes a call to a driver that may not be connected yet, or whose server may not be a Redis server. */
  async function firstCall<T>(current: RedisDriver, work: (current: RedisDriver) => Promise<T>): Promise<T> {
    let isOver = false;
    const endWait = diagnosis.beginWait();
    try {
      return await beforeDeadline(
        whenConnected(current, work, () => isOver),
        timeoutMs,
      );
    } catch (error) {
      throw failed(current, error);
    } finally {
      isOver = true;
      endWait();
    }
  }

  // Not async: it makes one promise besides the client's, because promises are most of the cost of a short call.
  function guarded<T>(work: (current: RedisDriver) => Promise<T>): Promise<T> {
    const current = driver;
    if (isClosed) {
      return Promise.reject(new ServiceError("store_unavailable", "The connection to Redis is closed."));
    }
    if (current !== answering || current.isRetired()) return firstCall(current, work);
    return beforeDeadline(work(current), timeoutMs, (error) => {
      const isOfServer = isReplyError(error) || error instanceof RedisTimeoutError;
      return failed(current, isOfServer ? error : (current.trouble() ?? error));
    });
  }

  const call = (key: string, args: RedisArguments) => guarded((current) => current.send(key, args));

  return {
    timeoutMs,
    isCluster: settings.isCluster,
    call,

    run: ({ sha1, text }, keys, args) =>
      call(keys[0], ["EVALSHA", sha1, String(keys.length), ...keys, ...args]).catch((error: ServiceError) => {
        const { cause } = error; // `guarded` rejects with nothing else.
        if (!(isError(cause) && cause.message.startsWith("NOSCRIPT"))) throw error;
        return call(keys[0], ["EVAL", text, String(keys.length), ...keys, ...args]);
      }),

    use: (work) => guarded(({ client }) => work(client)),

    async nodes() {
      const nodes = await guarded((current) => current.nodes());
      return nodes.map(({ id, send }) => ({ id, send: (args) => guarded(() => send(args)) }));
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      driver.retire(0);
    },
  };
}
