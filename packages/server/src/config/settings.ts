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
  extends Omit<CheckedConfig, "data" | "storage" | "lookup" | "http" | "images" | "renderer">,
    Pick<ServerConfig, "renderer"> {
  /** `resumable` is absent unless it is configured. */
  images: Omit<CheckedImagesConfig, "resumable"> & Pick<ServerImagesConfig, "resumable">;
  storage: StorageTargets;
  lookup: false | LookupSettings;
  http: CheckedConfig["http"] & { readonly requestTimeoutMs: number };
}

/** 256 kbit/s: at that rate, 25 MiB take 13 minutes. */
const SLOWEST_UPLOAD_BYTES_PER_MS = (32 * 1024) / 1000;

/** Fills in the defaults. @throws ConfigError for two keys that contradict each other. */
export function settingsOf(config: ServerConfig): ServerSettings {
  const {
    data,
    storage: _storage,
    lookup: _lookup,
    ...checked
  } = checkOptions("createServer", config, CONFIG_RULES);
  const { shutdownMs, drainDelayMs, http, images } = checked;
  const refuse = (problem: string) => new ConfigError("The configuration", [problem]);
  if (drainDelayMs >= shutdownMs) throw refuse(`drainDelayMs: must be less than shutdownMs (${shutdownMs})`);
  const storage = targetsOf(config.storage, data);
  if (images.sendfile !== undefined && storage.originals.kind !== "file")
    throw refuse("images.sendfile: needs originals in a directory (file:…)");
  const slowestMs = 60_000 + Math.ceil(images.maxUploadBytes / SLOWEST_UPLOAD_BYTES_PER_MS);
  return {
    ...checked,
    images: { ...images, resumable: config.images?.resumable },
    renderer: config.renderer,
    storage,
    lookup: lookupSettingsOf(config.lookup, storage),
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
  if (!trustsAny || publicUrl !== undefined || images.allowedHosts !== undefined) return null;
  return {
    risk: "trustProxy is set without publicUrl and images.allowedHosts: a client's X-Forwarded-Host appears in addresses, unless the proxy removes it",
    remedy: "Set publicUrl, or at least images.allowedHosts",
  };
}
