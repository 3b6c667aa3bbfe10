import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseStorage, parseStorageUrl, type StorageTargets } from "@outrigger/core/stores";
import { isError } from "@outrigger/core/values";
import { ConfigError } from "./config-error.ts";
import type { ServerStorageConfig } from "./config-rules.ts";

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
  if (storage === undefined) {
    const target = { kind: "file", directory: resolve(data ?? "data") } as const;
    return { records: target, originals: target, renditions: target };
  }
  if (data !== undefined) {
    throw new ConfigError("The configuration", [
      "data: must not be set together with storage: remove data (--data, OUTRIGGER_DATA)",
    ]);
  }
  try {
    return parseStorage(storage);
  } catch (error) {
    if (!isError(error)) throw error;
    throw new ConfigError("The configuration", [error.message]);
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
export function readStorageText(text: string, source: string | null, name: string): unknown {
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
