import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "./config-error.ts";
import type { ServerStorageConfig } from "./server-config.ts";
import { parseStorageUrl } from "./targets/parse-storage-url.ts";
import type { StorageTarget, StorageTargets } from "./targets/storage-target.ts";

/** The key `storage` of a configuration. */
type StorageConfig = string | ServerStorageConfig;

/** @returns `storage` with every relative path resolved against `directory`. */
export function resolveStorage(storage: StorageConfig, directory: string): StorageConfig {
  if (typeof storage === "string") return resolveUrl(storage, directory);
  const { records, originals, renditions } = storage;
  return {
    records: resolveUrl(records, directory),
    originals: resolveUrl(originals, directory),
    renditions: resolveUrl(renditions, directory),
  };
}

/**
 * The store of each role, from the validated keys `storage` and `data` of a configuration.
 * @throws ConfigError if both are set, or for a combination of stores that would lose images.
 */
export function targetsOf(storage: StorageConfig | undefined, data: string | undefined): StorageTargets {
  if (storage === undefined) return sameFor({ kind: "file", directory: resolve(data ?? "data") });
  if (data !== undefined) {
    throw new ConfigError("The configuration", [
      "data: must not be set together with storage: remove data (--data, OUTRIGGER_DATA)",
    ]);
  }
  const targets =
    typeof storage === "string"
      ? sameFor(parseStorageUrl(storage))
      : {
          records: parseStorageUrl(storage.records),
          originals: parseStorageUrl(storage.originals),
          renditions: parseStorageUrl(storage.renditions),
        };
  requireRecordsOnly(targets);
  requireKept(targets);
  requireLasting(targets);
  return targets;
}

function sameFor(target: StorageTarget): StorageTargets {
  return { records: target, originals: target, renditions: target };
}

/** A database holds small values; pictures would be copied through its log, its caches and its replicas. */
function requireRecordsOnly({ originals, renditions }: StorageTargets): void {
  for (const [role, target] of Object.entries({ originals, renditions })) {
    if (target.kind !== "postgres") continue;
    throw new ConfigError("The configuration", [
      `storage.${role}: must not be PostgreSQL, which stores records only. Name a directory or S3, as in {"records": "postgres://…", "originals": "s3://…", "renditions": "s3://…"}`,
    ]);
  }
}

/** Only renditions may expire: expired records and originals are lost. */
function requireKept({ records, originals }: StorageTargets): void {
  for (const target of [records, originals]) {
    if (target.kind === "redis" && target.ttlMs !== undefined) {
      throw new ConfigError("The configuration", [
        "storage: must have ttlMs only for renditions, which are rendered again; records and originals would be lost. Give the renditions a separate URL",
      ]);
    }
  }
}

/** Persistent data must not depend on data that was in the memory of an earlier process. */
function requireLasting({ records, originals, renditions }: StorageTargets): void {
  const isKept = ({ kind }: StorageTarget) => kind !== "memory";
  if (!isKept(records) && (isKept(originals) || isKept(renditions))) {
    throw new ConfigError("The configuration", [
      "storage.records: must not be memory: while other roles are persistent: a restart would orphan their files. Name the store of the originals",
    ]);
  }
  if (isKept(records) && !isKept(originals)) {
    throw new ConfigError("The configuration", [
      "storage.originals: must not be memory: while records are persistent: after a restart the records would name lost originals. Name the store of the records",
    ]);
  }
}

function resolveUrl(url: string, directory: string): string {
  const target = parseStorageUrl(url, directory);
  return target.kind === "file" ? pathToFileURL(target.directory).href : url;
}

/**
 * Reads the storage from the command line or the environment: a URL, or a JSON object of URLs.
 * @param source Where the text comes from. The message names it.
 * @param name What the text is called there.
 * @throws ConfigError
 */
export function readStorageText(text: string, source: string, name: string): unknown {
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch {
    // The message of the parser quotes the text, which may hold a password.
    throw new ConfigError(source, [
      `${name}: must be a URL, or JSON: {"records": "redis://…", "originals": "file:./data", "renditions": "memory:"}`,
    ]);
  }
}
