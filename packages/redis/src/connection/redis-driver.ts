import { createClient, createCluster, type RedisClientType, type RedisClusterType } from "@keyv/redis";
import type { RedisAddress, RedisSettings } from "./redis-options.ts";

/** A reply. Bulk strings are Buffers. */
export type RedisReply = null | number | string | Buffer | RedisReply[];

export type RedisArguments = readonly (string | Buffer)[];

/** One server that holds keys: a single server or a master of a cluster. */
export interface RedisNode {
  /** Stable ID of the node; empty for a single server. */
  id: string;
  send(args: RedisArguments): Promise<RedisReply>;
}

/** The library's own client, of a server or a cluster. */
export type RedisClient = RedisClientType | RedisClusterType;

/** The client of a server or a cluster, from its first connection to its last. */
export interface RedisDriver {
  readonly client: RedisClient;
  /**
   * Settles with the result of the first attempt to connect. The client of a single server continues after a failed
   * one. With Sentinels: resolves when no search for a master, the first or a new one, is in progress.
   */
  readonly connected: Promise<void>;
  /** Sends a command to the node that holds `key`. */
  send(key: string, args: RedisArguments): Promise<RedisReply>;
  nodes(): Promise<RedisNode[]>;
  /** The last connection error; `undefined` while connected. */
  trouble(): unknown;
  /**
   * Closes the connections after `graceMs`, the time for calls under way. The driver must not be used after
   * that.
   */
  retire(graceMs: number): void;
  isRetired(): boolean;
  /**
   * Reports a failure that may mean another master: the driver then searches for it. Absent without
   * Sentinels.
   */
  suspectMaster?(): void;
}

/** The members of both kinds of client that ending one needs. */
interface EndableClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  on(event: "connect" | "ready" | "error", listener: () => void): unknown;
  destroy(): void;
  unref(): void;
}

/** `$` (36) is the protocol's type of a bulk string: replies of that type stay bytes. */
const AS_BYTES = { typeMapping: { 36: Buffer } };

const LONGEST_PAUSE_MS = 1000;

/** Pause before the next connection attempt, in milliseconds, after `retries` failed ones. */
export function reconnectPauseMs(retries: number): number {
  return Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(retries, 10)) * (0.75 + Math.random() / 4);
}

/** Creates a driver and starts to connect. */
export function createDriver(settings: RedisSettings): RedisDriver {
  return settings.isCluster
    ? createClusterDriver(settings)
    : createServerDriver(settings, settings.addresses[0]);
}

/** The driver of one server. */
export interface ServerDriver extends RedisDriver {
  readonly client: RedisClientType;
}

export interface ServerDriverOptions {
  /** Whether it reconnects by itself. @default true */
  reconnects?: boolean;
  /**
   * Interval of pings, in milliseconds. The connection is closed after three silent intervals. @default never
   */
  pingMs?: number;
}

export function createServerDriver(
  settings: RedisSettings,
  address: RedisAddress,
  { reconnects = true, pingMs }: ServerDriverOptions = {},
): ServerDriver {
  const trouble = createTrouble(settings);
  const options = clientOptions(settings, address);
  const client = createClient({
    ...options,
    socket: {
      ...options.socket,
      ...(reconnects ? {} : { reconnectStrategy: false as const }),
      ...(pingMs === undefined ? {} : { socketTimeout: 3 * pingMs }),
    },
    ...(pingMs === undefined ? {} : { pingInterval: pingMs }),
    database: address.database,
  });
  const connected = new Promise<void>((resolve, reject) => {
    client.on("ready", () => {
      trouble.forget();
      resolve();
    });
    client.on("error", (error) => {
      trouble.remember(error);
      reject(error);
    });
  });
  connected.catch(() => undefined); // The calls report the error.
  client.connect().catch(() => undefined); // The client retries until it is closed; each failure emits "error".
  const send = (args: RedisArguments) => client.sendCommand<RedisReply>([...args], AS_BYTES);
  return {
    client: client as unknown as RedisClientType, // The library's types differ in their parameters.
    connected,
    send: (_key, args) => send(args),
    nodes: async () => [{ id: "", send }],
    trouble: trouble.last,
    ...createRetirement(() => [client], settings.timeoutMs),
  };
}

function createClusterDriver(settings: RedisSettings): RedisDriver {
  const [first] = settings.addresses;
  const trouble = createTrouble(settings);
  const defaults = clientOptions(settings, first);
  const cluster = createCluster({
    rootNodes: settings.addresses.map(({ host, port }) => ({
      // Ends a request for the slots at a hung root node. The driver ends the other clients itself.
      socket: { ...defaults.socket, host, port, socketTimeout: settings.timeoutMs },
    })),
    defaults,
    // Connects to a node on first use, so that a node that is down does not block the others.
    minimizeConnections: true,
  });
  cluster.on("error", trouble.remember);
  cluster.on("node-error", trouble.remember);
  cluster.on("node-ready", trouble.forget);
  const connected = cluster.connect().then(() => undefined);
  connected.catch(() => undefined); // The calls report the error.
  return {
    client: cluster as unknown as RedisClusterType, // As above.
    connected,
    send: (key, args) => cluster.sendCommand<RedisReply>(key, false, [...args], AS_BYTES),
    async nodes() {
      const masters = cluster.masters.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      // No master is known yet. An empty result would look like an empty store.
      if (masters.length === 0) throw new Error("No node of the cluster is known.");
      return masters.map((master) => ({
        id: master.id,
        send: async (args) => (await cluster.nodeClient(master)).sendCommand<RedisReply>([...args], AS_BYTES),
      }));
    },
    trouble: trouble.last,
    ...createRetirement(() => cluster.masters.flatMap(({ client }) => client ?? []), settings.timeoutMs),
  };
}

function clientOptions({ timeoutMs, tls }: RedisSettings, address: RedisAddress) {
  const { host, port, isSecure, username, password } = address;
  const reach = { host, port, connectTimeout: timeoutMs, reconnectStrategy: reconnectPauseMs };
  return {
    socket: isSecure ? { ...tls, ...reach, tls: true as const } : reach,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    // A call must not wait for an unavailable server.
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled" as const,
  };
}

export function createTrouble({ onError }: Pick<RedisSettings, "onError">) {
  let last: unknown;
  return {
    last: () => last,
    remember(error: unknown) {
      last = error;
      // In a microtask: an exception of `onError` in the client would stop it from reconnecting.
      queueMicrotask(() => onError(error));
    },
    forget() {
      last = undefined;
    },
  };
}

/**
 * Closes the clients that exist when the grace period ends, in whatever state they are. They do not keep the
 * process alive.
 */
function createRetirement(clients: () => readonly EndableClient[], timeoutMs: number) {
  let isRetired = false;
  function end(): void {
    isRetired = true;
    for (const client of clients()) endClient(client, timeoutMs);
  }
  return {
    isRetired: () => isRetired,
    retire(graceMs: number): void {
      if (graceMs === 0) end();
      else setTimeout(end, graceMs).unref();
    },
  };
}

/**
 * A client that is destroyed while it connects forgets the socket that is about to open, which then stays open for
 * ever. The client is therefore destroyed once it has the socket or failed to get one.
 */
function endClient(client: EndableClient, timeoutMs: number): void {
  const destroy = () => {
    if (client.isOpen) client.destroy();
  };
  if (client.isReady) {
    destroy();
    return;
  }
  client.unref();
  for (const event of ["connect", "ready", "error"] as const) client.on(event, destroy);
  // A client that waits for the reply to its greeting emits no event; after this time it cannot be connecting
  // any more.
  setTimeout(destroy, timeoutMs + LONGEST_PAUSE_MS).unref();
}
