import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "./config-error.ts";
import type { ServerStorageConfig } from "./server-config.ts";
import { parseStorageUrl } from "./targets/parse-storage-url.ts";
import type { StorageTarget, StorageTargets } from "./targets/storage-target.ts";

/** The key `storage` of a configuration. */
type StorageConfig = string | ServerStorageConfig;

/** @returns `storage` with every relative path in it counted from `directory`. */
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
 * What keeps what, by the keys `storage` and `data` of a configuration, both proved.
 * @throws ConfigError where both are given, and for a combination of stores that would lose images.
 */
export function targetsOf(storage: StorageConfig | undefined, data: string | undefined): StorageTargets {
  if (storage === undefined) return sameFor({ kind: "file", directory: resolve(data ?? "data") });
  if (data !== undefined) {
    throw new ConfigError("The configuration", [
      "data: must not be given beside storage, which says where everything is kept: drop data (--data, OUTRIGGER_DATA)",
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
  requireKept(targets);
  requireLasting(targets);
  return targets;
}

function sameFor(target: StorageTarget): StorageTargets {
  return { records: target, originals: target, renditions: target };
}

/** Only renditions may expire in a store: records and originals would be lost. */
function requireKept({ records, originals }: StorageTargets): void {
  for (const target of [records, originals]) {
    if (target.kind === "redis" && target.ttlMs !== undefined) {
      throw new ConfigError("The configuration", [
        "storage: must have ttlMs for the renditions alone, which are drawn again: records and originals would be lost. Give the renditions a URL of their own",
      ]);
    }
  }
}

/** After a restart, what lies in one store must not need what lay in the memory of the process before. */
function requireLasting({ records, originals, renditions }: StorageTargets): void {
  const isKept = ({ kind }: StorageTarget) => kind !== "memory";
  if (!isKept(records) && (isKept(originals) || isKept(renditions))) {
    throw new ConfigError("The configuration", [
      "storage.records: must not be memory: where other roles are kept elsewhere: after a restart nobody would know of the images there. Name the store of the originals",
    ]);
  }
  if (isKept(records) && !isKept(originals)) {
    throw new ConfigError("The configuration", [
      "storage.originals: must not be memory: where the records are kept elsewhere: after a restart they would name images that are gone. Name the store of the records",
    ]);
  }
}

function resolveUrl(url: string, directory: string): string {
  const target = parseStorageUrl(url, directory);
  return target.kind === "file" ? pathToFileURL(target.directory).href : url;
}

/**
 * Where images are kept, as it is typed or stands in the environment: a URL as it is, or the object of several.
 * @param source What the text comes from, and `name` what it is called there, for the message.
 * @throws ConfigError
 */
export function readStorageText(text: string, source: string, name: string): unknown {
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch {
    // What the parser says quotes the text, and with it a password.
    throw new ConfigError(source, [
      `${name}: must be a URL, or JSON: {"records": "redis://…", "originals": "file:./data", "renditions": "memory:"}`,
    ]);
  }
}
