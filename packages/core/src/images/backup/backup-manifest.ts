import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import type { StoreIdentity } from "../store/store-identity.ts";

/** Where a backup keeps the database of the lookup, and what it is. */
export interface BackedUpLookup {
  /** `sqlite`: a database file; `postgres`: an archive of `pg_dump --format=custom`. */
  kind: "sqlite" | "postgres";
  /** Key of the blob in the backup. */
  key: string;
  size: number;
  /** Hex. */
  sha256: string;
  /** Unix milliseconds. */
  copiedAt: number;
}

/** What a backup says about itself. Times are Unix milliseconds. */
export interface BackupManifest {
  v: 1;
  /** Name and version of what made it. */
  tool: string;
  /** Names the source, without secrets. */
  source: string;
  /** That of the source; `null` where it had none. */
  identity: StoreIdentity | null;
  /** Fingerprints of the secrets of the source, as far as they were known; never the secrets. */
  secrets: string[];
  /** When the latest run began. */
  beganAt: number;
  /** When it ended; `null`: it is under way, or was interrupted. */
  finishedAt: number | null;
  /** Nothing in the backup was read from the source before this time. */
  since: number;
  /** Of the latest whole run; 0 before there was one. */
  images: number;
  keys: number;
  /** Keys that were damaged at the source. */
  damaged: number;
  /** `null`: the backup has no database of a lookup. */
  lookup: BackedUpLookup | null;
}

export const MANIFEST_KEY = "backup/manifest";

/** A manifest, and what a conditional write of it expects. */
export interface HeldManifest {
  manifest: BackupManifest;
  revision: string;
}

/** @returns `null` where a store is no backup. Rejects with `damaged`; with `store_unavailable` for one of a newer version. */
export async function readBackupManifest(store: BlobStore): Promise<HeldManifest | null> {
  const blob = await store.get(MANIFEST_KEY);
  if (blob === null) return null;
  return { manifest: decodeManifest(await readAll(blob.body)), revision: blob.revision };
}

/** Writes a manifest by compare-and-set, and gives its revision. */
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
      `The backup has the format version ${v}, this version knows 1: use the newer version`,
    );
  }
  if (v !== 1 || !Number.isSafeInteger(since) || !Array.isArray(secrets)) {
    throw new ServiceError("damaged", `The manifest of the backup (key "${MANIFEST_KEY}") cannot be read`);
  }
  return found as BackupManifest; // Written by writeManifest.
}
