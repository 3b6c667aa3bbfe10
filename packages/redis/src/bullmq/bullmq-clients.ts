import { Cluster, Redis, type RedisOptions } from "ioredis";
import { reconnectPauseMs } from "../connection/reconnect-pause.ts";
import { isDemoted } from "../connection/redis-errors.ts";
import type { RedisAddress, RedisSettings, SentinelSettings } from "../connection/redis-options.ts";

/** Connections for BullMQ, which accepts only those of its own library, ioredis. */
export interface BullMqClients {
  /** For calls that fail if the server is unavailable. */
  asking: Redis | Cluster;
  /** Resolves when `asking` is connected. A lost connection may not have been detected yet. */
  ready(): Promise<void>;
  /** For a worker, whose commands wait for the server to come back. */
  openWorking(): Redis | Cluster;
  /** The last connection error of `asking`; `undefined` while it is connected. */
  trouble(): unknown;
  /** Closes all clients at once, including the duplicates that BullMQ created. */
  disconnect(): void;
}

/** How long a worker blocks in one wait for a job, in seconds. */
export const WAIT_S = 2;

/** How long to wait for the server to close a connection. */
const FAREWELL_MS = 100;

/** Begins to connect at once. */
export function openBullMqClients(settings: RedisSettings): BullMqClients {
  const clients: (Redis | Cluster)[] = [];
  let trouble: unknown;

  const asking = openClient(settings, { maxRetriesPerRequest: 0, socketTimeout: settings.timeoutMs }, false);
  clients.push(asking);
  let tellReady: () => void = () => undefined;
  let becomesReady: Promise<void> | undefined;
  asking.on("ready", () => {
    trouble = undefined;
    becomesReady = undefined;
    tellReady();
  });
  asking.on("error", (error) => {
    trouble = error;
    // In a microtask, so that an exception of `onError` does not reach the client.
    queueMicrotask(() => settings.onError(error));
  });

  function keepWorking(client: Redis | Cluster): Redis | Cluster {
    clients.push(client);
    // The worker reports the errors of its client as its own, until it is closed.
    client.on("error", () => undefined);
    return client;
  }

  return {
    asking,
    ready() {
      if (asking.status === "ready") return Promise.resolve();
      becomesReady ??= new Promise((resolve) => {
        tellReady = resolve;
      });
      return becomesReady;
    },
    openWorking() {
      // If a worker's connection is silent for longer than one wait for a job, it has lost its server.
      const socketTimeout = WAIT_S * 1000 + settings.timeoutMs;
      const client = keepWorking(openClient(settings, { maxRetriesPerRequest: null, socketTimeout }, true));
      const duplicate = client.duplicate.bind(client) as (...args: unknown[]) => Redis | Cluster; // Server or cluster, as `client`.
      return Object.assign(client, { duplicate: (...args: unknown[]) => keepWorking(duplicate(...args)) });
    },
    trouble: () => trouble,
    disconnect() {
      for (const client of clients) end(client);
    },
  };
}

function end(client: Redis | Cluster): void {
  const isConnected =
    client.status === "ready" || client.status === "connect" || client.status === "connecting";
  client.disconnect();
  if (isConnected || client.status === "end") return;
  // Between two attempts there is nothing to close, and the client would never emit the "end" event for which
  // BullMQ waits
  // before it stops its timers. One more attempt ends the client.
  client.once("connect", () => client.disconnect());
  client.connect().catch(() => undefined); // The attempt is meant to fail.
}

/** @param isPatient whether commands wait for a connection. */
function openClient(settings: RedisSettings, extra: RedisOptions, isPatient: boolean): Redis | Cluster {
  const [first] = settings.addresses;
  const { sentinel } = settings;
  if (sentinel !== null) {
    return new Redis({
      ...optionsOf(settings, sentinel.master),
      ...extra,
      ...sentinelOptions(settings, sentinel),
      db: sentinel.master.database,
      enableOfflineQueue: isPatient,
      retryStrategy: reconnectPauseMs,
      // A demoted master rejects writes. 2: reconnect and send the command again, to the new master.
      reconnectOnError: (error) => isDemoted(error) && (isPatient ? 2 : 1),
    });
  }
  const options = { ...optionsOf(settings, first), ...extra };
  if (!settings.isCluster) {
    const { host, port, database: db } = first;
    return new Redis({
      ...options,
      ...{ host, port, db, enableOfflineQueue: isPatient, retryStrategy: reconnectPauseMs },
    });
  }
  return new Cluster(
    settings.addresses.map(({ host, port }) => ({ host, port })),
    {
      redisOptions: options,
      enableOfflineQueue: isPatient,
      clusterRetryStrategy: reconnectPauseMs,
      slotsRefreshTimeout: settings.timeoutMs,
      // Keeps host names: TLS certificates are issued for names, not for IP addresses.
      dnsLookup: (address, callback) => callback(null, address),
    },
  );
}

function sentinelOptions(
  { addresses, timeoutMs, tls }: RedisSettings,
  { name }: SentinelSettings,
): RedisOptions {
  const [{ username, password, isSecure }] = addresses;
  return {
    name,
    sentinels: addresses.map(({ host, port }) => ({ host, port })),
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...(isSecure ? { sentinelTLS: { ...tls }, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: timeoutMs,
    sentinelRetryStrategy: reconnectPauseMs,
    sentinelReconnectStrategy: reconnectPauseMs,
    // Each Sentinel announces a fail-over, which closes the connection to the old master.
    failoverDetector: true,
    sentinelMaxConnections: addresses.length,
  };
}

function optionsOf(
  { timeoutMs, tls }: RedisSettings,
  { isSecure, username, password }: Omit<RedisAddress, "host" | "port">,
): RedisOptions {
  return {
    connectTimeout: timeoutMs,
    disconnectTimeout: FAREWELL_MS,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(isSecure ? { tls: { ...tls } } : {}),
  };
}
