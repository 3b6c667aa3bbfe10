import { ConfigError } from "./config-error.ts";
import { type LookupSettings, lookupSettingsOf } from "./lookup-settings.ts";
import type {
  ServerConfig,
  ServerHttpConfig,
  ServerLogConfig,
  ServerMetricsConfig,
} from "./server-config.ts";
import { targetsOf } from "./storage-config.ts";
import type { StorageTargets } from "./targets/storage-target.ts";

/** A configuration with its defaults filled in. */
export interface ServerSettings
  extends Omit<ServerConfig, "data" | "storage" | "lookup" | "http" | "log" | "metrics"> {
  port: number;
  host: string;
  storage: StorageTargets;
  lookup: false | LookupSettings;
  existing: boolean;
  trustProxy: boolean | number | string | string[];
  http: Required<ServerHttpConfig>;
  log: Required<ServerLogConfig>;
  metrics: false | Required<ServerMetricsConfig>;
  tracing: boolean;
  shutdownMs: number;
  drainDelayMs: number;
}

const MAX_UPLOAD_BYTES = 25 * 1024 * 1024;
/** A slow line of 256 kbit/s: who sends slower than that has not finished 25 MiB in a quarter of an hour. */
const SLOWEST_UPLOAD_BYTES_PER_MS = (32 * 1024) / 1000;

/** Fills in the defaults. @throws ConfigError where two keys do not go together. */
export function settingsOf(config: ServerConfig): ServerSettings {
  const { shutdownMs = 10_000, drainDelayMs = 0 } = config;
  if (drainDelayMs >= shutdownMs) {
    throw new ConfigError("The configuration", [
      `drainDelayMs: must be less than shutdownMs (${shutdownMs})`,
    ]);
  }
  const uploadMs = (config.images?.maxUploadBytes ?? MAX_UPLOAD_BYTES) / SLOWEST_UPLOAD_BYTES_PER_MS;
  const { data, storage, lookup, ...others } = config;
  const targets = targetsOf(storage, data);
  return {
    ...others,
    port: config.port ?? 3000,
    host: config.host ?? "127.0.0.1",
    storage: targets,
    lookup: lookupSettingsOf(lookup, targets),
    existing: config.existing ?? false,
    trustProxy: config.trustProxy ?? false,
    http: {
      headersTimeoutMs: 15_000,
      requestTimeoutMs: 60_000 + Math.ceil(uploadMs),
      keepAliveMs: 75_000,
      idleMs: 120_000,
      maxConnections: 4096,
      ...config.http,
    },
    log: { level: "info", pretty: false, ...config.log },
    metrics: config.metrics ? { host: "127.0.0.1", ...config.metrics } : false,
    tracing: config.tracing ?? false,
    shutdownMs,
    drainDelayMs,
  };
}
