import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import type { Logger } from "../../contracts/logger.ts";
import { isServiceError } from "../../errors.ts";
import { roleOf } from "../record/image-record.ts";
import type { Secret } from "../record/pin.ts";
import { readMigrationMark } from "./migration-mark.ts";
import { requireKnownFormat } from "./store-guard.ts";
import {
  fingerprintsOf,
  type HeldIdentity,
  newIdentity,
  readIdentity,
  type StoreIdentity,
  StoreRefused,
  writeIdentity,
} from "./store-identity.ts";

export interface OpenStoreOptions {
  records: BlobStore;
  /** Absent: the secret kept in the store. */
  secret: Secret | undefined;
  /** Rejects an empty store instead of initializing it. */
  requireStore: boolean;
  now(): number;
  log: Logger;
}

/** A store that may be used. */
export interface OpenedStore {
  /** ID in the store's identity; `null`: the store has no space for an identity, and the next start writes it. */
  id: string | null;
  secret: Secret;
}

/** Most fingerprints in an identity. Each rotation adds one. */
const MAX_SECRETS = 8;

/**
 * Checks that a store of records may be used with this secret. Writes an identity if the store has none. A new store gets
 * its secret before its identity, so an identity without a secret means that the secret was lost.
 * Rejects with {@link StoreRefused} for a store that must not be used, otherwise like the store.
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  for (;;) {
    const held = await readIdentity(options.records);
    try {
      return await (held === null ? nameStore(options) : enterStore(options, held));
    } catch (error) {
      // Another process wrote the identity first. Read it again.
      if (!isServiceError(error, "conflict")) throw error;
    }
  }
}

/** Rejects with `conflict` when another process adds a fingerprint at the same time. */
async function enterStore(options: OpenStoreOptions, held: HeldIdentity): Promise<OpenedStore> {
  const { records } = options;
  const { identity, revision } = held;
  requireKnownFormat(identity);
  const secret = await secretOf(options);
  const fingerprints = fingerprintsOf(secret);
  const [signing = ""] = fingerprints;
  if (!fingerprints.some((each) => identity.secrets.includes(each))) throw new StoreRefused(wrong(options));
  if (!identity.secrets.includes(signing)) {
    const inUse = fingerprints.filter((each) => identity.secrets.includes(each));
    const secrets = [...new Set([signing, ...inUse, ...identity.secrets])].slice(0, MAX_SECRETS);
    await ifRoom(writeIdentity(records, { ...identity, secrets }, revision));
  }
  return { id: identity.id, secret };
}

/** Rejects with `conflict` when another process names the store at the same time. */
async function nameStore(options: OpenStoreOptions): Promise<OpenedStore> {
  const { records, requireStore, now, log } = options;
  if ((await readMigrationMark(records))?.finishedAt === null) throw new StoreRefused(UNFINISHED);
  const isNew = await holdsNothing(records);
  if (isNew && requireStore) throw new StoreRefused(missing(records));
  const secret = isNew ? await firstSecretOf(options) : await secretOf(options);
  const identity: StoreIdentity = newIdentity(fingerprintsOf(secret).slice(0, MAX_SECRETS), now());
  const writing = writeIdentity(records, identity, null);
  if (!isNew) return { id: (await ifRoom(writing)) ? identity.id : null, secret };
  await writing;
  logNew(records, identity, log);
  return { id: identity.id, secret };
}

/** Awaits a write that is not needed to serve and delete images, and ignores `no_space`. @returns whether it was written. */
async function ifRoom(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (isServiceError(error, "no_space")) return false;
    throw error;
  }
}

/** Whether a store has no permanent key of an image service. */
async function holdsNothing(records: BlobStore): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const page = await records.list("", cursor === undefined ? {} : { cursor });
    if (page.keys.some((key) => roleOf(key) !== null)) return false;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return true;
}

async function firstSecretOf({ secret, records }: OpenStoreOptions): Promise<Secret> {
  if (secret !== undefined || !isLocalStore(records)) return secretOf({ secret, records });
  return records.localSecret();
}

/** The secret in use. Never creates one: a new secret would invalidate every PIN. */
async function secretOf({ secret, records }: Pick<OpenStoreOptions, "secret" | "records">): Promise<Secret> {
  if (secret !== undefined) return secret;
  const kept = isLocalStore(records) ? await records.readLocalSecret() : null;
  if (kept !== null) return kept;
  throw new StoreRefused(
    `The secret of this storage is missing, so its PINs cannot be checked. Restore ${secretPathOf(records)} from a backup, or ${GIVE_SECRET}`,
  );
}

const UNFINISHED =
  "The storage is the target of an unfinished migration or restore. Run that again until it finishes";

const GIVE_SECRET =
  "set the secret that the images were stored with: option secret (outrigger serve: OUTRIGGER_SECRET or OUTRIGGER_SECRET_FILE)";

function wrong({ secret, records }: OpenStoreOptions): string {
  const remedy =
    secret === undefined
      ? `Restore the former ${secretPathOf(records)} from a backup, or ${GIVE_SECRET}`
      : `${GIVE_SECRET.replace(/^s/, "S")}. To rotate, list it after the new secret`;
  const own =
    secret !== undefined && isLocalStore(records)
      ? `. Without that option, ${secretPathOf(records)} is used`
      : "";
  return `The PINs of this storage were made with another secret. ${remedy}${own}`;
}

function missing(records: BlobStore): string {
  const what = isLocalStore(records) ? "The data directory" : "The storage";
  return `${what} is empty, and an existing one is required. Mount the right one; to start with an empty one, start once without requireStore (outrigger serve: without --existing and OUTRIGGER_EXISTING)`;
}

function secretPathOf(records: BlobStore): string {
  return isLocalStore(records) ? `the file ${records.secretPath}` : "it";
}

function logNew(records: BlobStore, { id }: StoreIdentity, log: Logger): void {
  if (isLocalStore(records)) {
    log.info({ where: records.secretPath.replace(/[\\/][^\\/]*$/, ""), store: id }, "new data directory");
  } else {
    log.info({ store: id }, "new storage");
  }
}
