import type {
  CorsOptions,
  ImageRateLimits,
  OwnerLimits,
  PlanAllowance,
  PresetOption,
  SizesOption,
  TlsPolicy,
} from "@outrigger/core";
import type { RendererOptions } from "@outrigger/imaging";
import type { SmtpIdentity } from "@outrigger/verifier";

/** Limits of the image service, as in `ImagesOptions`. */
export interface ServerImagesConfig {
  /** Hosts (`name` or `name:port`) that requests may name; others get 400. @default all */
  allowedHosts?: string[];
  /** Largest file, 1 to 2147483648 bytes. @default 26214400 (25 MiB) */
  maxUploadBytes?: number;
  /** An upload without progress for this long ends with 408; milliseconds from 100. @default 15000 */
  uploadIdleMs?: number;
  /** An upload that is slower than this on average ends with 408; bytes per second, `0` never. @default 1024 */
  minUploadBytesPerSecond?: number;
  /**
   * An upload that takes longer to check and clean is answered with 202; milliseconds from 0 to 60000. `false`: clients wait,
   * unless they send `Prefer: respond-async`. @default 2000
   */
  asyncAfterMs?: number | false;
  /**
   * Whether this server works on uploads that were answered with 202 by any server; `false` where others on the same storage
   * do. @default true
   */
  processUploads?: boolean;
  /** Leaves place, camera, author and other EXIF, XMP and IPTC in the stored originals. @default false */
  keepMetadata?: boolean;
  /** Life of an image without `expiresAt`, in milliseconds from 1. @default 86400000 (24 hours) */
  defaultLifetimeMs?: number;
  /** Longest life that `expiresAt` may ask for, in milliseconds from 1. @default 31536000000 (365 days) */
  maxLifetimeMs?: number;
  /** How long an image that is gone answers 410, before it is unknown; days, 0 to 3650. @default 30 */
  tombstoneDays?: number;
  /** How often to look for what has expired, in milliseconds from 1000 to 86400000; `false` never. @default 60000 */
  sweepEveryMs?: number | false;
  /**
   * Which sizes a stranger may ask for: `any`; `steps` of longer sides from 64 to 8192 pixels, or your own as `{ steps: [400, 1200] }`,
   * where a request gets the next larger step; `signed`, where `resize`, `convert` and `page` need a signed address.
   * Presets and signed addresses get exactly what they name. @default "any"
   */
  sizes?: SizesOption;
  /**
   * Renditions by name, e.g. `{ thumb: { resize: "256x256" } }` for `?preset=thumb`. A name has 1 to 32 of `a-z`, `0-9` and `-`.
   * @default none
   */
  presets?: Record<string, PresetOption>;
  /** How long caches may keep a picture without asking, in seconds from 0. @default 300 */
  cacheSeconds?: number;
  /** Memory for often read pictures, in bytes from 0. @default 67108864 (64 MiB) */
  memoryBytes?: number;
  /**
   * Bytes of all stored renditions together, from 1048576; `false`: any. Beyond it, the renditions of the images that were
   * used the longest ago are removed, until the store is a tenth below. @default 10737418240 (10 GiB)
   */
  maxRenditionBytes?: number | false;
  /** Days after its last use in which an image keeps its stored renditions, 1 to 3650; `false`: as long as it lives. @default 30 */
  renditionsIdleDays?: number | false;
  /** Requests per client address and minute, each `false` or a number from 1; `false` switches all limits off. @default the limits that {@link ImageRateLimits} names */
  rateLimits?: ImageRateLimits | false;
  /**
   * CPU seconds per client and minute for new renditions and checks of uploads, 1 to 3600; `false`: no budget. See
   * {@link ImagesOptions.renderBudget}. @default 20
   */
  renderBudget?: number | false;
  /** Pages of which other origins may use the service with scripts. @default none */
  cors?: CorsOptions;
  /** What one owner may have at a time, each a whole number from 0. @default no limits */
  ownerLimits?: OwnerLimits;
}

/** What the renderer may spend; see `RendererOptions` of `@outrigger/imaging` for ranges and defaults. */
export type ServerRendererConfig = RendererOptions;

/** How long and how much the HTTP server bears with its clients. */
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

/** Where what is kept, each a URL. The same one several times is one store. */
export interface ServerStorageConfig {
  /** What is known of each image: small, and changed often. */
  records: string;
  /** Pictures as they were stored: large, and never changed. */
  originals: string;
  /** Pictures in other formats and sizes, which can be made again. */
  renditions: string;
}

/** The email lookup. Its addresses are below `/v2`, beside the images. */
export interface ServerLookupConfig {
  /**
   * What keeps contacts, accounts and suppressions: `file:./lookup.db`, which the processes of one machine may share, or
   * `postgres://user:password@host:port/database`.
   * @default `lookup.db` in the directory of the images; required where they are in none
   */
  database?: string;
  /**
   * What the keys of suppressions are derived from, at least 32 bytes: the same as that of an app on the database. Of a list, the
   * first makes new entries, and all stay needed.
   * @default Derived from `secret`
   */
  secret?: string | string[];
  /** Who asks mail servers whether a mailbox exists. @default nobody: only the DNS is asked */
  smtp?: SmtpIdentity;
  /** IP addresses of the resolvers that are asked about mail hosts, with or without a port. @default the machine's */
  dnsServers?: string[];
  /**
   * What accounts may use up in a month, by the name of their plan: `{ searches, verifications }`, each a number from 0, or
   * `false` for no limit.
   * @default free: 100 searches and 100 verifications
   */
  plans?: Record<string, PlanAllowance>;
  /** What the fields of the two networks are called. @default { a: "network_a", b: "network_b" } */
  networkNames?: { a: string; b: string };
  /** Requests per account and second, from 1; `false`: no limit. @default 15 */
  requestsPerSecond?: number | false;
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
export interface ServerConfig {
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
  /** Absolute URL at which the world reaches this server, e.g. `https://img.example.com`. @default As the request says */
  publicUrl?: string;
  /**
   * Which proxies are believed about the client's address, protocol and host: Express' `trust proxy`. The number of
   * proxies, or their addresses (`"loopback"`, `"10.0.0.0/8"`, a list). @default false
   */
  trustProxy?: boolean | number | string | string[];
  /** `required`: TLS, except for this machine itself; `always`; `off` where it is somebody else's job. @default "required" */
  tls?: TlsPolicy;
  /**
   * What PINs are derived from, and the lookup's keys, at least 32 bytes; a list rotates: the first signs, all verify.
   * @default One made at the first start, kept beside the records (mode 0600); required where those are in Redis or S3
   */
  secret?: string | string[];
  /** Limits of the image service. @default what {@link ServerImagesConfig} names */
  images?: ServerImagesConfig;
  /** The email lookup. @default false */
  lookup?: false | ServerLookupConfig;
  /** What the renderer may spend. @default what {@link RendererOptions} names */
  renderer?: ServerRendererConfig;
  /** How long and how much the HTTP server bears with its clients. @default what {@link ServerHttpConfig} names */
  http?: ServerHttpConfig;
  /** What is written to the standard error. @default what {@link ServerLogConfig} names */
  log?: ServerLogConfig;
  /** Metrics for Prometheus at `GET /metrics`. @default false */
  metrics?: false | ServerMetricsConfig;
  /** Spans for the OpenTelemetry SDK that was registered in this process before, e.g. by `node --import`. @default false */
  tracing?: boolean;
  /** From the signal to the exit, at most; milliseconds, 100 to 600000. @default 10000 */
  shutdownMs?: number;
  /**
   * How long, after `/readyz` turned 503, connections are still accepted, so that a load balancer has time to look
   * away; milliseconds, from 0 and less than `shutdownMs`. @default 0
   */
  drainDelayMs?: number;
}
