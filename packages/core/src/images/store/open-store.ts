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
  /** Absent: the one that the store keeps. */
  secret: Secret | undefined;
  /** Refuses a store without data instead of making it one of ours. */
  requireStore: boolean;
  now(): number;
  log: Logger;
}

/** A store that may be used. */
export interface OpenedStore {
  /** Of its identity; `null` where it is too full for one: the next start writes it. */
  id: string | null;
  secret: Secret;
}

/** Fingerprints that an identity keeps: each rotation adds one. */
const MAX_SECRETS = 8;

/**
 * Proves that a store of records may be used with this secret. A store without an identity gets one; a new one gets its
 * secret before that, so that a store with an identity has its secret, or has lost it.
 * Rejects with {@link StoreRefused} for a store that must not be used, otherwise as the store does.
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  for (;;) {
    const held = await readIdentity(options.records);
    try {
      return await (held === null ? nameStore(options) : enterStore(options, held));
    } catch (error) {
      // Another process was faster with the identity: it is read again.
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

/** Waits for a write without which images can be served and deleted, also where there is no room for it. @returns whether it was done. */
async function ifRoom(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (isServiceError(error, "no_space")) return false;
    throw error;
  }
}

/** Whether a store has no key of an image service but those that come and go. */
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

/** The secret in use; makes none: with another one, every PIN that was given out would be wrong. */
async function secretOf({ secret, records }: Pick<OpenStoreOptions, "secret" | "records">): Promise<Secret> {
  if (secret !== undefined) return secret;
  const kept = isLocalStore(records) ? await records.readLocalSecret() : null;
  if (kept !== null) return kept;
  throw new StoreRefused(
    `The secret of this storage is gone, and its PINs with it. Restore ${secretPathOf(records)} from a backup, or ${GIVE_SECRET}`,
  );
}

const UNFINISHED =
  "The storage is the target of a migration or a restore that has not finished: run it again to its end first";

const GIVE_SECRET =
  "give the secret that the images were stored under: option secret (outrigger serve: OUTRIGGER_SECRET or OUTRIGGER_SECRET_FILE)";

function wrong({ secret, records }: OpenStoreOptions): string {
  const remedy =
    secret === undefined
      ? `Restore the former ${secretPathOf(records)} from a backup, or ${GIVE_SECRET}`
      : `${GIVE_SECRET.replace(/^g/, "G")}, in a list behind the new one to rotate`;
  const own =
    secret !== undefined && isLocalStore(records)
      ? `; without the option, ${secretPathOf(records)} is used`
      : "";
  return `The PINs of this storage were made with another secret. ${remedy}${own}`;
}

function missing(records: BlobStore): string {
  const what = isLocalStore(records) ? "The data directory" : "The storage";
  return `${what} is empty, and an existing one is required. Mount the right one; to begin anew, start once without requireStore (outrigger serve: without --existing and OUTRIGGER_EXISTING)`;
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
