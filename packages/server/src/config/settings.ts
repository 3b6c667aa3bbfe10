import { checkOptions, type rules, type StorageTargets } from "@outrigger/core/stores";
import { ConfigError } from "./config-error.ts";
import {
  type CheckedImagesConfig,
  CONFIG_RULES,
  type ServerConfig,
  type ServerImagesConfig,
} from "./config-rules.ts";
import { type LookupSettings, lookupSettingsOf } from "./lookup-settings.ts";
import { targetsOf } from "./storage-config.ts";

type CheckedConfig = rules.Checked<typeof CONFIG_RULES>;

/** A configuration with its defaults filled in; the renderer has its own. */
export interface ServerSettings
  extends Omit<CheckedConfig, "data" | "storage" | "lookup" | "keepAliveMs" | "images" | "renderer">,
    Pick<ServerConfig, "renderer"> {
  /** `resumable` is absent unless it is configured. */
  images: Omit<CheckedImagesConfig, "resumable"> & Pick<ServerImagesConfig, "resumable">;
  storage: StorageTargets;
  lookup: false | LookupSettings;
  http: HttpLimits;
}

/** Time-outs, in milliseconds, and connections of the HTTP server. */
export interface HttpLimits {
  /** Time for the headers of a request, then 408. */
  headersTimeoutMs: number;
  /** Time for the headers and body of a request, then 408. */
  requestTimeoutMs: number;
  /** How long an idle connection stays open between two requests. */
  keepAliveMs: number;
  /** Time after which a connection without traffic is closed. */
  idleMs: number;
  /** Most open connections; further ones are refused. */
  maxConnections: number;
}

const HTTP_LIMITS = { headersTimeoutMs: 15_000, idleMs: 120_000, maxConnections: 4096 };

/** 256 kbit/s: at that rate, 25 MiB take 13 minutes. */
const SLOWEST_UPLOAD_BYTES_PER_MS = (32 * 1024) / 1000;

/** Fills in the defaults. @throws ConfigError for two keys that contradict each other. */
export function settingsOf(config: ServerConfig): ServerSettings {
  const {
    data,
    storage: _storage,
    lookup: _lookup,
    keepAliveMs,
    ...checked
  } = checkOptions("createServer", config, CONFIG_RULES);
  const { shutdownMs, drainDelayMs, images } = checked;
  const refuse = (problem: string) => new ConfigError("The configuration", [problem]);
  if (drainDelayMs >= shutdownMs) throw refuse(`drainDelayMs: must be less than shutdownMs (${shutdownMs})`);
  const storage = targetsOf(config.storage, data);
  if (images.sendfile !== undefined && storage.originals.kind !== "file")
    throw refuse("images.sendfile: needs originals in a directory (file:…)");
  const requestTimeoutMs = 60_000 + Math.ceil(images.maxUploadBytes / SLOWEST_UPLOAD_BYTES_PER_MS);
  return {
    ...checked,
    images: { ...images, resumable: config.images?.resumable },
    renderer: config.renderer,
    storage,
    lookup: lookupSettingsOf(config.lookup, storage),
    http: { ...HTTP_LIMITS, requestTimeoutMs, keepAliveMs },
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
  if (!trustsAny || publicUrl !== undefined || images.allowedHosts !== undefined) return null;
  return {
    risk: "trustProxy is set without publicUrl and images.allowedHosts: a client's X-Forwarded-Host appears in addresses, unless the proxy removes it",
    remedy: "Set publicUrl, or at least images.allowedHosts",
  };
}
