import { createHash } from "node:crypto";
import { ServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";
import { beforeDeadline } from "./before-deadline.ts";
import { createDiagnosis, type Diagnosis } from "./diagnosis.ts";
import {
  createDriver,
  type RedisArguments,
  type RedisClient,
  type RedisDriver,
  type RedisNode,
  type RedisReply,
} from "./redis-driver.ts";
import { isDemoted, isReplyError, RedisTimeoutError, toServiceError } from "./redis-errors.ts";
import type { RedisSettings } from "./redis-options.ts";
import { SentinelDriver } from "./sentinel-driver.ts";

/** A Lua script that the server runs atomically. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

/** Minimum pause between two replacements of a silent client. */
const RENEWAL_PAUSE_MS = 500;

export function createScript(text: string): RedisScript {
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}

/**
 * A connection to a server, a cluster, or the master behind Sentinels. It opens in the background and reconnects by itself.
 * Every failure is a `ServiceError`.
 */
export class RedisConnection {
  /** How long one round trip may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly #settings: RedisSettings;
  readonly #user: string;
  readonly #diagnosis: Diagnosis;
  #driver: RedisDriver;
  /** A driver that has answered: calls need not wait for its first connection. Never one with Sentinels. */
  #answering: RedisDriver | undefined;
  #isRenewing = false;
  #renewedAt = performance.now();
  #isClosed = false;

  /** @param user Noun for the user of the connection in messages, such as "store". */
  constructor(settings: RedisSettings, user: string) {
    this.timeoutMs = settings.timeoutMs;
    this.#settings = settings;
    this.#user = user;
    this.#diagnosis = createDiagnosis(settings);
    this.#driver = openDriver(settings);
  }

  /** Throws if the connection is closed. */
  checkOpen(): void {
    if (this.#isClosed) throw new ServiceError("store_unavailable", `The ${this.#user} is closed.`);
  }

  /** Runs a command on the server that holds `key`. */
  call(key: string, args: RedisArguments): Promise<RedisReply> {
    return this.#guarded((current) => current.send(key, args));
  }

  /** Runs a script on `keys`: at least one, all in one slot. */
  run(
    { sha1, text }: RedisScript,
    keys: readonly [string, ...string[]],
    args: RedisArguments,
  ): Promise<RedisReply> {
    const rest = [String(keys.length), ...keys, ...args];
    return this.call(keys[0], ["EVALSHA", sha1, ...rest]).catch((error: ServiceError) => {
      const { cause } = error; // `#guarded` rejects with nothing else.
      if (!(isError(cause) && cause.message.startsWith("NOSCRIPT"))) throw error;
      return this.call(keys[0], ["EVAL", text, ...rest]);
    });
  }

  /** Makes one round trip with the library's client. The next call may get another client. */
  use<T>(work: (client: RedisClient) => Promise<T>): Promise<T> {
    return this.#guarded(({ client }) => work(client));
  }

  /** The servers that hold keys, in a stable order. */
  async nodes(): Promise<RedisNode[]> {
    const nodes = await this.#guarded((current) => current.nodes());
    return nodes.map(({ id, send }) => ({ id, send: (args) => this.#guarded(() => send(args)) }));
  }

  /** Closes the connection: calls under way and all later calls reject. May be called twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#driver.retire(0);
  }

  // Not async: promises are most of the cost of a short call.
  #guarded<T>(work: (current: RedisDriver) => Promise<T>): Promise<T> {
    const current = this.#driver;
    try {
      this.checkOpen();
    } catch (error) {
      return Promise.reject(error);
    }
    const isKnown = current === this.#answering && !current.isRetired();
    const done = isKnown ? this.#nextCall(current, work) : this.#firstCall(current, work);
    return done.then((result) => {
      this.checkOpen();
      return result;
    });
  }

  #nextCall<T>(current: RedisDriver, work: (current: RedisDriver) => Promise<T>): Promise<T> {
    return beforeDeadline(work(current), this.timeoutMs, (error) => {
      const isOfServer = isReplyError(error) || error instanceof RedisTimeoutError;
      return this.#failed(current, isOfServer ? error : (current.trouble() ?? error));
    });
  }

  /** Makes a call to a driver that may not be connected yet, or whose server may not be a Redis server. */
  async #firstCall<T>(current: RedisDriver, work: (current: RedisDriver) => Promise<T>): Promise<T> {
    let isOver = false;
    const endWait = this.#diagnosis.beginWait();
    try {
      return await beforeDeadline(
        this.#whenConnected(current, work, () => isOver),
        this.timeoutMs,
      );
    } catch (error) {
      throw this.#failed(current, error);
    } finally {
      isOver = true;
      endWait();
    }
  }

  async #whenConnected<T>(
    current: RedisDriver,
    work: (current: RedisDriver) => Promise<T>,
    isOver: () => boolean,
  ): Promise<T> {
    // If the first attempt failed, the call itself fails too, with the latest error.
    await current.connected.catch(() => undefined);
    if (current.isRetired()) throw new Error("The connection was closed.");
    // A server that recovers after the deadline must not receive the rejected call.
    if (isOver()) throw new RedisTimeoutError(this.timeoutMs);
    try {
      const result = await work(current);
      this.#diagnosis.answered();
      if (current.suspectMaster === undefined) this.#answering = current;
      return result;
    } catch (error) {
      throw await this.#diagnosis.explain(isReplyError(error) ? error : (current.trouble() ?? error));
    }
  }

  /** Acts on a failed call. @returns the error for its caller. */
  #failed(current: RedisDriver, error: unknown): unknown {
    const isReply = isReplyError(error);
    const isSilent = error instanceof RedisTimeoutError;
    if (current.suspectMaster !== undefined) {
      if (!isReply || isDemoted(error)) current.suspectMaster();
    } else if (isSilent || (this.#settings.isCluster && !isReply)) {
      // The client of a single server reconnects by itself when it notices the loss; that of a cluster
      // seeks no other node.
      void this.#renew();
    }
    return (isSilent && this.#diagnosis.found()) || toServiceError(error);
  }

  /**
   * Replaces a client that may have lost its server without noticing: a hung machine, a cluster that has
   * moved.
   */
  async #renew(): Promise<void> {
    const isEarly = performance.now() - this.#renewedAt < RENEWAL_PAUSE_MS;
    if (this.#isClosed || this.#isRenewing || isEarly) return;
    this.#isRenewing = true;
    const next = openDriver(this.#settings);
    try {
      await beforeDeadline(next.connected, this.timeoutMs);
      const [retired, kept] = this.#isClosed ? [next, this.#driver] : [this.#driver, next];
      this.#driver = kept;
      // By then the deadline of its last call has passed.
      retired.retire(this.#isClosed ? 0 : this.timeoutMs + 1000);
    } catch {
      next.retire(0); // The new client is no better; the calls report why.
    } finally {
      this.#renewedAt = performance.now();
      this.#isRenewing = false;
    }
  }
}

function openDriver(settings: RedisSettings): RedisDriver {
  const { sentinel } = settings;
  return sentinel === null ? createDriver(settings) : new SentinelDriver(settings, sentinel);
}
