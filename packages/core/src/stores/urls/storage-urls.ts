import type { StoreRole } from "../../contracts/observer.ts";
import { isError } from "../../errors.ts";
import { parseStorageUrl } from "./parse-storage-url.ts";
import { ROLES, type StorageTarget, type StorageTargets } from "./storage-target.ts";

/** One URL for all roles, one per role, or the latter as JSON. */
export type StorageUrls = string | Readonly<Record<StoreRole, string>>;

/**
 * Parses and checks the URLs of a storage.
 * @throws TypeError that names the role and the accepted form, and quotes no URL, which may hold a password.
 */
export function parseStorage(storage: StorageUrls): StorageTargets {
  const given = typeof storage === "string" && storage.startsWith("{") ? parsed(storage) : storage;
  const urlOf = (role: StoreRole) => (typeof given === "string" ? given : Object(given)[role]);
  const targetOf = (role: StoreRole) => {
    try {
      return parseStorageUrl(String(urlOf(role)));
    } catch (error) {
      if (!isError(error)) throw error;
      throw new TypeError(`storage${typeof given === "string" ? "" : `.${role}`} ${error.message}`);
    }
  };
  const targets = {
    records: targetOf("records"),
    originals: targetOf("originals"),
    renditions: targetOf("renditions"),
  };
  checkTargets(targets);
  return targets;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of the parser quotes the text.
    throw new TypeError(
      'storage must be a URL, or JSON: {"records": "redis://…", "originals": "file:./data", "renditions": "memory:"}',
    );
  }
}

/** @throws TypeError for a combination of stores that would lose images. */
export function checkTargets(targets: StorageTargets): void {
  const { records, originals, renditions } = targets;
  for (const role of ROLES) {
    // A database holds small values; pictures would be copied through its log, its caches and its replicas.
    if (role !== "records" && targets[role].kind === "postgres") {
      throw new TypeError(
        `storage.${role}: must not be PostgreSQL, which stores records only. Name a directory or S3, as in {"records": "postgres://…", "originals": "s3://…", "renditions": "s3://…"}`,
      );
    }
  }
  // Only renditions may expire: expired records and originals are lost.
  for (const target of [records, originals]) {
    if (target.kind === "redis" && target.ttlMs !== undefined) {
      throw new TypeError(
        "storage: must have ttlMs only for renditions, which are rendered again; records and originals would be lost. Give the renditions a separate URL",
      );
    }
  }
  // Persistent data must not depend on data that was in the memory of an earlier process.
  const isKept = ({ kind }: StorageTarget) => kind !== "memory";
  if (!isKept(records) && (isKept(originals) || isKept(renditions))) {
    throw new TypeError(
      "storage.records: must not be memory: while other roles are persistent: a restart would orphan their files. Name the store of the originals",
    );
  }
  if (isKept(records) && !isKept(originals)) {
    throw new TypeError(
      "storage.originals: must not be memory: while records are persistent: after a restart the records would name lost originals. Name the store of the records",
    );
  }
}
