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
  "importUrls",
  "keepMetadata",
  "keepPdfActions",
  "defaultLifetimeMs",
  "maxLifetimeMs",
  "tombstoneDays",
  "readLeaseMs",
  "sweepEveryMs",
  "sizes",
  "presets",
  "cacheSeconds",
  "cacheTag",
  "sendfile",
  "memoryBytes",
  "renditionsIdleDays",
  "rateLimits",
  "renderBudget",
  "cors",
  "ownerLimits",
] as const satisfies readonly (keyof ImagesOptions)[];

/** The image service: options of `createImages`. */
export type ServerImagesConfig = Pick<ImagesOptions, (typeof IMAGE_KEYS)[number]>;

/** Options of `createLookup` that a configuration has under `lookup`. */
export const LOOKUP_KEYS = [
  "plans",
  "networkNames",
  "requestsPerSecond",
  "verifyAtOnce",
  "testKey",
] as const satisfies readonly (keyof LookupOptions)[];

/** Options of `createMailProber` that a configuration has under `lookup`. */
export const PROBER_KEYS = ["smtp", "dnsServers"] as const satisfies readonly (keyof MailProberOptions)[];

/** Limits of the renderer. */
export type ServerRendererConfig = RendererOptions;

/** Time-outs and connections of the HTTP server. */
export interface ServerHttpConfig {
  /** Time for the headers of a request, then 408. Milliseconds, 100 to 600000. @default 15000 */
  headersTimeoutMs?: number | undefined;
  /**
   * Time for the headers and body of a request, then 408. Milliseconds, 1000 to 86400000.
   * @default 60000 plus the time that `images.maxUploadBytes` takes at 32 KiB/s (25 MiB: 860000)
   */
  requestTimeoutMs?: number | undefined;
  /**
   * How long an idle connection stays open; milliseconds, 0 to 3600000. Set it longer than the idle time-out of the
   * proxy in front.
   * @default 75000
   */
  keepAliveMs?: number | undefined;
  /** Time after which a connection without traffic is closed; milliseconds, 1000 to 3600000. @default 120000 */
  idleMs?: number | undefined;
  /** Most open connections; further ones are refused. 1 to 1000000. @default 4096 */
  maxConnections?: number | undefined;
}

/** A URL for each role. Roles with the same URL share one store. */
export interface ServerStorageConfig {
  /** Image records: small, changed often. */
  records: string;
  /** Originals: large, never changed. */
  originals: string;
  /** Renditions in other formats and sizes. A lost rendition is rendered again. */
  renditions: string;
}

/** The email lookup, served below `/v2` beside the images. */
export interface ServerLookupConfig
  extends Pick<LookupOptions, (typeof LOOKUP_KEYS)[number]>,
    Pick<MailProberOptions, (typeof PROBER_KEYS)[number]> {
  /**
   * Database of contacts, accounts and suppressions: `file:./lookup.db`, or
   * `postgres://user:password@host:port/database`.
   * @default `lookup.db` in the directory of the images; required if the records are not in a directory
   */
  database?: string | undefined;
  /**
   * At least 32 bytes, the same for all apps on one database: see `secret` of `createLookup`.
   * @default derived from `secret`
   */
  secret?: string | string[] | undefined;
}

/** The listener for metrics, with its own port, so that metrics are never exposed with the pictures. */
export interface ServerMetricsConfig {
  /** TCP port, 0 to 65535. 0 picks a free port, which the log names. */
  port: number;
  /** Address or host name to listen on. @default "127.0.0.1" */
  host?: string | undefined;
}

export interface ServerLogConfig {
  /** Lowest severity that is logged; `silent` logs nothing. @default "info" */
  level?: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent" | undefined;
  /** Writes lines for people instead of JSON. @default false */
  pretty?: boolean | undefined;
}

/** The configuration of the server: the content of `outrigger.config.json` or `.mjs`. Unknown keys are rejected. */
export interface ServerConfig extends Pick<ImagesOptions, "publicUrl" | "tls"> {
  /** TCP port, 0 to 65535; 0 picks a free port. @default 3000 */
  port?: number | undefined;
  /** Address or host name to listen on. @default "127.0.0.1" */
  host?: string | undefined;
  /**
   * Directory of the images, created if missing. Short for `storage` of `file:<data>`; set only one of the two.
   * @default "./data"
   */
  data?: string | undefined;
  /**
   * One URL for all roles, or a URL for each: `file:./data`, `memory:`, `redis://…`, `rediss://…`,
   * `redis+sentinel://…`, `postgres://…` (records only) or `s3://bucket/prefix`. docs/storage.md lists their
   * parameters.
   * @default `data`
   */
  storage?: string | ServerStorageConfig | undefined;
  /** Rejects empty storage, such as a volume that is not mounted. Turn it on after the first start. @default false */
  existing?: boolean | undefined;
  /**
   * Proxies whose forwarding headers are trusted for the client's address, protocol and host, as `trust proxy` of
   * Express: their number, or their addresses (`"loopback"`, `"10.0.0.0/8"`, a list).
   * @default false
   */
  trustProxy?: boolean | number | string | string[] | undefined;
  /**
   * At least 32 bytes from which PINs and the lookup's keys are derived. In a list, the first signs, all verify.
   * @default created at the first start beside the records (mode 0600); required with records in Redis, PostgreSQL or
   * S3
   */
  secret?: string | string[] | undefined;
  /** The image service. @default the defaults of {@link ServerImagesConfig} */
  images?: ServerImagesConfig | undefined;
  /** The email lookup. @default false */
  lookup?: false | ServerLookupConfig | undefined;
  /** Limits of the renderer. @default the defaults of {@link RendererOptions} */
  renderer?: ServerRendererConfig | undefined;
  /** Time-outs and connections of the HTTP server. @default the defaults of {@link ServerHttpConfig} */
  http?: ServerHttpConfig | undefined;
  /** The log on standard error. @default the defaults of {@link ServerLogConfig} */
  log?: ServerLogConfig | undefined;
  /** Metrics for Prometheus at `GET /metrics`. @default false */
  metrics?: false | ServerMetricsConfig | undefined;
  /** Sends spans to the OpenTelemetry SDK registered in this process, e.g. by `node --import`. @default false */
  tracing?: boolean | undefined;
  /** Longest time from the signal to the exit; milliseconds, 100 to 600000. @default 10000 */
  shutdownMs?: number | undefined;
  /**
   * How long the server still accepts connections after `/readyz` turns 503; milliseconds, from 0, less than
   * `shutdownMs`.
   * @default 0
   */
  drainDelayMs?: number | undefined;
}
