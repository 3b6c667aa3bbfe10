import type { ImagesOptions, LookupOptions } from "@outrigger/core";
import type { RendererOptions } from "@outrigger/imaging";
import type { MailProberOptions } from "@outrigger/verifier";

/** Options of `createImages` that a configuration has under `images`. */
export const IMAGE_KEYS = [
  "allowedHosts",
  "maxUploadBytes",
  "uploadIdleMs",
  "minUploadBytesPerSecond",
  "asyncAfterMs",
  "processUploads",
  "keepMetadata",
  "defaultLifetimeMs",
  "maxLifetimeMs",
  "tombstoneDays",
  "sweepEveryMs",
  "sizes",
  "presets",
  "cacheSeconds",
  "memoryBytes",
  "maxRenditionBytes",
  "renditionsIdleDays",
  "rateLimits",
  "renderBudget",
  "cors",
  "ownerLimits",
] as const satisfies readonly (keyof ImagesOptions)[];

/** The image service. These are options of `createImages`. */
export type ServerImagesConfig = Pick<ImagesOptions, (typeof IMAGE_KEYS)[number]>;

/** Options of `createLookup` that a configuration has under `lookup`. */
export const LOOKUP_KEYS = [
  "plans",
  "networkNames",
  "requestsPerSecond",
] as const satisfies readonly (keyof LookupOptions)[];

/** Options of `createMailProber` that a configuration has under `lookup`. */
export const PROBER_KEYS = ["smtp", "dnsServers"] as const satisfies readonly (keyof MailProberOptions)[];

/** Limits of the renderer. */
export type ServerRendererConfig = RendererOptions;

/** Time-outs and connections of the HTTP server. */
export interface ServerHttpConfig {
  /** A request whose headers take longer is cut with 408; milliseconds, 100 to 600000. @default 15000 */
  headersTimeoutMs?: number;
  /**
   * A request whose headers and body take longer is cut with 408; milliseconds, 1000 to 86400000.
   * @default 60000 plus what `images.maxUploadBytes` take at 32 KiB/s (25 MiB: 860000)
   */
  requestTimeoutMs?: number;
  /**
   * How long an idle connection is kept for the next request; milliseconds, 0 to 3600000. It should be longer than the
   * idle time of the proxy in front, or that one sends requests into closing connections. @default 75000
   */
  keepAliveMs?: number;
  /** A connection on which nothing moves in either direction is cut; milliseconds, 1000 to 3600000. @default 120000 */
  idleMs?: number;
  /** Connections beyond it are refused; 1 to 1000000. @default 4096 */
  maxConnections?: number;
}

/** A URL for each role. The same URL several times is one store. */
export interface ServerStorageConfig {
  /** The record of each image: small, and changed often. */
  records: string;
  /** Pictures as they were stored: large, and never changed. */
  originals: string;
  /** Pictures in other formats and sizes, which can be made again. */
  renditions: string;
}

/** The email lookup. Its addresses are below `/v2`, beside the images. */
export interface ServerLookupConfig
  extends Pick<LookupOptions, (typeof LOOKUP_KEYS)[number]>,
    Pick<MailProberOptions, (typeof PROBER_KEYS)[number]> {
  /**
   * Database of contacts, accounts and suppressions: `file:./lookup.db`, which the processes of one machine may share, or
   * `postgres://user:password@host:port/database`.
   * @default `lookup.db` in the directory of the images; required without such a directory
   */
  database?: string;
  /**
   * Derives the keys of suppressions, at least 32 bytes. Apps on the same database need the same one. Of a list, the first
   * makes new entries, and all stay needed.
   * @default Derived from `secret`
   */
  secret?: string | string[];
}

/** Where metrics are served: on a port of their own, so that they are never exposed with the pictures. */
export interface ServerMetricsConfig {
  /** 0 to 65535; 0 takes a free one, which the log names. */
  port: number;
  /** Address or name to listen on. @default "127.0.0.1" */
  host?: string;
}

export interface ServerLogConfig {
  /** From what severity on; `silent` writes nothing. @default "info" */
  level?: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
  /** Lines for people instead of JSON. @default false */
  pretty?: boolean;
}

/** Everything that can be configured; what the file `outrigger.config.json` or `.mjs` holds. Unknown keys are refused. */
export interface ServerConfig extends Pick<ImagesOptions, "publicUrl" | "tls"> {
  /** 0 to 65535; 0 takes a free one. @default 3000 */
  port?: number;
  /** Address or name to listen on. @default "127.0.0.1" */
  host?: string;
  /** Directory of the images; made when missing: `storage` of `file:<data>`, and not to be given beside it. @default "./data" */
  data?: string;
  /**
   * Where images are kept: a URL for everything, or one for each role. `file:./data`, `memory:?maxBytes=…`,
   * `redis://[user:password@]host[:port][/database]?prefix=…&timeoutMs=…&ttlMs=…&cluster=true` (several of a cluster separated by
   * commas; `rediss:` for TLS), `redis+sentinel://[user:password@]host[:port][,host[:port]…]/name?db=…&sentinelPassword=…` (the master
   * that Sentinels watch), `s3://bucket/prefix?endpoint=…&region=…&forcePathStyle=true&timeoutMs=…`.
   * @default `data`
   */
  storage?: string | ServerStorageConfig;
  /**
   * Refuses a storage without data, as a volume that is not mounted shows it, instead of beginning a new one. Leave it off for
   * the first start alone. @default false
   */
  existing?: boolean;
  /**
   * Redis that hands uploads which were answered with 202 to whichever server has time for them, as a URL like those of
   * `storage`. Needs `npm install bullmq ioredis`. @default Each server does its own, and looks now and then for what others
   * left undone
   */
  jobQueue?: string;
  /**
   * Which proxies are believed about the client's address, protocol and host: Express' `trust proxy`. The number of
   * proxies, or their addresses (`"loopback"`, `"10.0.0.0/8"`, a list). @default false
   */
  trustProxy?: boolean | number | string | string[];
  /**
   * Derives PINs and the lookup's keys, at least 32 bytes. A list rotates: the first signs, all verify.
   * @default Made at the first start and kept beside the records (mode 0600); required with records in Redis or S3
   */
  secret?: string | string[];
  /** The image service. @default what {@link ServerImagesConfig} names */
  images?: ServerImagesConfig;
  /** The email lookup. @default false */
  lookup?: false | ServerLookupConfig;
  /** Limits of the renderer. @default what {@link RendererOptions} names */
  renderer?: ServerRendererConfig;
  /** Time-outs and connections of the HTTP server. @default what {@link ServerHttpConfig} names */
  http?: ServerHttpConfig;
  /** The log on the standard error. @default what {@link ServerLogConfig} names */
  log?: ServerLogConfig;
  /** Metrics for Prometheus at `GET /metrics`. @default false */
  metrics?: false | ServerMetricsConfig;
  /** Spans for the OpenTelemetry SDK that was registered in this process before, e.g. by `node --import`. @default false */
  tracing?: boolean;
  /** From the signal to the exit, at most; milliseconds, 100 to 600000. @default 10000 */
  shutdownMs?: number;
  /**
   * How long the server accepts connections after `/readyz` turned 503, so that load balancers notice; milliseconds, from 0
   * and less than `shutdownMs`. @default 0
   */
  drainDelayMs?: number;
}
