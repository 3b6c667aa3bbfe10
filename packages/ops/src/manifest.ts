import { ServiceError } from "@outrigger/core";
import type { StoreIdentity } from "@outrigger/core/storage";
import { readAll } from "@outrigger/core/storage";
import type { BlobStore } from "@outrigger/core/stores";

/** The manifest of a backup. Times are Unix milliseconds. */
export interface BackupManifest {
  v: 1;
  /** Name of the program that made the backup. */
  tool: string;
  /** Name of the source, without secrets. */
  source: string;
  /** Identity of the source; `null`: it had none. */
  identity: StoreIdentity | null;
  /** Fingerprints of the known secrets of the source; never the secrets. */
  secrets: string[];
  /** Start of the latest run. */
  beganAt: number;
  /** End of the latest run; `null`: it is running, or was interrupted. */
  finishedAt: number | null;
  /** Everything in the backup was read from the source at or after this time. */
  since: number;
  /** Number of images in the latest complete run; 0 before the first. */
  images: number;
  keys: number;
  /** Number of keys that were damaged at the source. */
  damaged: number;
}

export const MANIFEST_KEY = "backup/manifest";

/** A manifest, and its revision for a conditional write. */
export interface HeldManifest {
  manifest: BackupManifest;
  revision: string;
}

/**
 * @returns `null` if the store is not a backup. Rejects with `damaged` for an unreadable manifest, with `store_unavailable` for
 * one of a newer version.
 */
export async function readBackupManifest(store: BlobStore): Promise<HeldManifest | null> {
  const blob = await store.get(MANIFEST_KEY);
  if (blob === null) return null;
  return { manifest: decodeManifest(await readAll(blob.body)), revision: blob.revision };
}

/** Writes a manifest by compare-and-set, and returns its revision. */
export async function writeManifest(
  store: BlobStore,
  manifest: BackupManifest,
  revision: string | null,
): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(manifest), "utf8");
  return (await store.put(MANIFEST_KEY, bytes, { ifRevision: revision })).revision;
}

function decodeManifest(bytes: Buffer): BackupManifest {
  let found: Partial<Record<keyof BackupManifest, unknown>> | null = null;
  try {
    found = JSON.parse(bytes.toString("utf8"));
  } catch {
    // Not even JSON: reported below.
  }
  const { v, since, secrets } = found ?? {};
  if (Number.isInteger(v) && Number(v) > 1) {
    throw new ServiceError(
      "store_unavailable",
      `The backup has the format version ${v}, and this release reads version 1. Use a newer release`,
    );
  }
  if (v !== 1 || !Number.isSafeInteger(since) || !Array.isArray(secrets)) {
    throw new ServiceError("damaged", `The manifest of the backup (key "${MANIFEST_KEY}") cannot be read`);
  }
  return found as BackupManifest; // Written by writeManifest.
}
