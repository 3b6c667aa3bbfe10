import { createClient, createCluster, type RedisClientType, type RedisClusterType } from "@keyv/redis";
import { LONGEST_PAUSE_MS, reconnectPauseMs } from "./reconnect-pause.ts";
import type { RedisAddress, RedisSettings } from "./redis-options.ts";

/** An answer; strings of bytes come as Buffers. */
export type RedisReply = null | number | string | Buffer | RedisReply[];

export type RedisArguments = readonly (string | Buffer)[];

/** One server that holds keys of its own. */
export interface RedisNode {
  /** Names the node for as long as it lives; empty where there is but one. */
  id: string;
  send(args: RedisArguments): Promise<RedisReply>;
}

/** The library's own client, of either kind. */
export type RedisClient = RedisClientType | RedisClusterType;

/** The client of a server or a cluster, from its first connection to its last. */
export interface RedisDriver {
  readonly client: RedisClient;
  /**
   * How the first attempt to connect ended. One to a single server goes on after a failed one. With Sentinels: resolves when no
   * first master, and none after one that was lost, is being looked for.
   */
  readonly connected: Promise<void>;
  /** Sends a command to the node that has `key`. */
  send(key: string, args: RedisArguments): Promise<RedisReply>;
  nodes(): Promise<RedisNode[]>;
  /** What was last heard of a connection that is not there; `undefined` when all is well. */
  trouble(): unknown;
  /** Ends its connections after `graceMs`, for calls that are under way. After that it must not be used. */
  retire(graceMs: number): void;
  isRetired(): boolean;
  /** A call failed in a way that another server might not: the driver looks for one by itself. Absent: it knows but one. */
  doubt?(): void;
}

/** What both kinds of client have that is needed to end one. */
interface EndableClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  on(event: "connect" | "ready" | "error", listener: () => void): unknown;
  destroy(): void;
  unref(): void;
}

/** The type of a bulk string in the protocol is `$`: replies of that type are to stay bytes. */
const AS_BYTES = { typeMapping: { 36: Buffer } };

/** Begins to connect at once. */
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
  /** Whether it connects again by itself. @default true */
  reconnects?: boolean;
  /** Has the server pinged so often, and its silence end the connection after three times as long, in milliseconds. @default never */
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
  connected.catch(() => undefined); // Whoever calls meets the error.
  client.connect().catch(() => undefined); // It goes on until it is ended; each failure was an event.
  const send = (args: RedisArguments) => client.sendCommand<RedisReply>([...args], AS_BYTES);
  return {
    client: client as unknown as RedisClientType, // What the library makes and what it asks for differ in type parameters.
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
      // Who asks a hung root node for the slots has to be let go of; the other clients are ended by us.
      socket: { ...defaults.socket, host, port, socketTimeout: settings.timeoutMs },
    })),
    defaults,
    // A node that is down keeps nobody from the others.
    minimizeConnections: true,
  });
  cluster.on("error", trouble.remember);
  cluster.on("node-error", trouble.remember);
  cluster.on("node-ready", trouble.forget);
  const connected = cluster.connect().then(() => undefined);
  connected.catch(() => undefined); // Whoever calls meets the error.
  return {
    client: cluster as unknown as RedisClusterType, // As above.
    connected,
    send: (key, args) => cluster.sendCommand<RedisReply>(key, false, [...args], AS_BYTES),
    async nodes() {
      const masters = cluster.masters.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      // Until it has found one; to have nothing to list would look like an empty store.
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
    // A call must not wait for a server to come back.
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
      // What it throws is not to end up in the client, which would stop connecting.
      queueMicrotask(() => onError(error));
    },
    forget() {
      last = undefined;
    },
  };
}

/** Ends the clients that there are by then, whatever they are about to do, and keeps the process from waiting for them. */
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
 * A client that is just being connected forgets, when it is destroyed, the socket that is about to open, and would leave it
 * open for ever. So it is destroyed once it has the socket or has failed to get one.
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
  // Neither happens to one that waits for the answer to its greeting; by then it cannot be connecting any more.
  setTimeout(destroy, timeoutMs + LONGEST_PAUSE_MS).unref();
}
