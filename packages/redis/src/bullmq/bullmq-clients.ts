import { Cluster, Redis, type RedisOptions } from "ioredis";
import { reconnectPauseMs } from "../connection/reconnect-pause.ts";
import { isDemoted } from "../connection/redis-errors.ts";
import type { RedisAddress, RedisSettings, SentinelSettings } from "../connection/redis-options.ts";

/** Connections for BullMQ, which takes those of its own library only. */
export interface BullMqClients {
  /** For calls that fail when the server is away. */
  asking: Redis | Cluster;
  /** Resolves when `asking` has its server; one that has lost it may not know yet. */
  ready(): Promise<void>;
  /** For a worker, whose commands wait for the server to come back. */
  openWorking(): Redis | Cluster;
  /** What `asking` last heard of a connection that is not there; `undefined` when all is well. */
  trouble(): unknown;
  /** Ends all of them at once, those that BullMQ made of ours too. */
  disconnect(): void;
}

/** A worker waits so long at a time for a job to come. */
export const WAIT_S = 2;

/** A server that has not closed a connection by then is not waited for. */
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
    // What it throws is not to end up in the client.
    queueMicrotask(() => settings.onError(error));
  });

  function keepWorking(client: Redis | Cluster): Redis | Cluster {
    clients.push(client);
    // The worker passes them on as its own, until it is closed.
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
      // A worker's connection that is silent for longer than it waits for a job has lost its server.
      const socketTimeout = WAIT_S * 1000 + settings.timeoutMs;
      const client = keepWorking(openClient(settings, { maxRetriesPerRequest: null, socketTimeout }, true));
      const duplicate = client.duplicate.bind(client) as (...args: unknown[]) => Redis | Cluster; // Of either kind.
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
  // Between two attempts it has nothing to close, and would never say that it has ended, which is what BullMQ waits for before it
  // stops its clocks. The end of an attempt is the end of it.
  client.once("connect", () => client.disconnect());
  client.connect().catch(() => undefined); // As it was meant to.
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
      // A master that was demoted refuses writes: by 2 the command is sent again, to the new one.
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
      // Certificates are of names, not of the addresses that these have.
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
    // Each announces a fail-over: the connection to the master of before is closed then.
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
