import { IMAGES_RULES } from "@outrigger/core/images";
import { checkOptions, type Filled, type StorageTargets } from "@outrigger/core/stores";
import { ConfigError } from "./config-error.ts";
import { CONFIG_RULES } from "./config-rules.ts";
import { type LookupSettings, lookupSettingsOf } from "./lookup-settings.ts";
import type {
  ServerConfig,
  ServerHttpConfig,
  ServerLogConfig,
  ServerMetricsConfig,
} from "./server-config.ts";
import { targetsOf } from "./storage-config.ts";

/** A configuration with its defaults filled in. */
export interface ServerSettings
  extends Omit<ServerConfig, "data" | "storage" | "lookup" | "http" | "log" | "metrics"> {
  port: number;
  host: string;
  storage: StorageTargets;
  lookup: false | LookupSettings;
  existing: boolean;
  trustProxy: NonNullable<ServerConfig["trustProxy"]>;
  http: Filled<ServerHttpConfig>;
  log: Filled<ServerLogConfig>;
  metrics: false | Filled<ServerMetricsConfig>;
  tracing: boolean;
  shutdownMs: number;
  drainDelayMs: number;
}

/** 256 kbit/s: at that rate, 25 MiB take 13 minutes. */
const SLOWEST_UPLOAD_BYTES_PER_MS = (32 * 1024) / 1000;

/** Fills in the defaults. @throws ConfigError for two keys that contradict each other. */
export function settingsOf(config: ServerConfig): ServerSettings {
  const { data, storage, lookup, images, ...others } = config;
  const { port, host, existing, trustProxy, http, log, metrics, tracing, shutdownMs, drainDelayMs } =
    checkOptions("createServer", config, CONFIG_RULES);
  if (drainDelayMs >= shutdownMs) {
    throw new ConfigError("The configuration", [
      `drainDelayMs: must be less than shutdownMs (${shutdownMs})`,
    ]);
  }
  const { maxUploadBytes = IMAGES_RULES.maxUploadBytes.preset } = images ?? {};
  const slowestMs = 60_000 + Math.ceil(maxUploadBytes / SLOWEST_UPLOAD_BYTES_PER_MS);
  const targets = targetsOf(storage, data);
  if (images?.sendfile !== undefined && targets.originals.kind !== "file") {
    throw new ConfigError("The configuration", ["images.sendfile: needs originals in a directory (file:…)"]);
  }
  return {
    ...others,
    ...(images === undefined ? {} : { images }),
    port,
    host,
    existing,
    trustProxy,
    log,
    metrics,
    tracing,
    shutdownMs,
    drainDelayMs,
    storage: targets,
    lookup: lookupSettingsOf(lookup, targets),
    http: { ...http, requestTimeoutMs: http.requestTimeoutMs ?? slowestMs },
  };
}

/**
 * Why a client may choose the host of the addresses in replies, through a proxy that passes its header on; `null` if it
 * may not.
 */
export function forgedHostRisk({
  trustProxy,
  publicUrl,
  images,
}: Pick<ServerSettings, "trustProxy" | "publicUrl" | "images">): { risk: string; remedy: string } | null {
  const trustsAny = trustProxy !== false && trustProxy !== 0;
  if (!trustsAny || publicUrl !== undefined || images?.allowedHosts !== undefined) return null;
  return {
    risk: "trustProxy is set without publicUrl and images.allowedHosts: a client's X-Forwarded-Host appears in addresses, unless the proxy removes it",
    remedy: "Set publicUrl, or at least images.allowedHosts",
  };
}
