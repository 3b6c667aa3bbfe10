import { isSettledWithin } from "../../async/settled-within.ts";
import type { StorageRoles } from "../../contracts/blob-store.ts";
import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import type { Logger } from "../../contracts/logger.ts";
import { isServiceError, onCode } from "../../errors.ts";
import type { Secret } from "../../secret-bytes.ts";
import { CACHE_PATIENCE_MS, type InspectedStores, inspectStores } from "./inspect-stores.ts";
import {
  type BytesRole,
  fingerprintsOf,
  type HeldIdentity,
  newIdentity,
  readMigrationMark,
  type StoreIdentity,
  StoreRefused,
  writeIdentity,
  writeMark,
} from "./store-identity.ts";

export interface OpenStoreOptions {
  stores: StorageRoles;
  /** Roles whose stores are not that of the records: see `rolesApart`. */
  apart: readonly BytesRole[];
  /** Absent: the secret kept in the store. */
  secret: Secret | undefined;
  /** Rejects empty stores of records and originals instead of initializing them. */
  requireStore: boolean;
  now(): number;
  log: Logger;
}

/** A store that may be used. */
export interface OpenedStore {
  /** ID in the store's identity; `null`: the store has no space for an identity, and the next start writes it. */
  id: string | null;
  secret: Secret;
  /** Whether the store of the originals has a mark. */
  isMarked: boolean;
}

/** Most fingerprints in an identity. Each rotation adds one. */
const MAX_SECRETS = 8;

/**
 * Checks that the stores belong together and may be used with this secret. Writes the identity of the records and the marks of
 * the other roles where they are missing. A new store gets its secret before its identity, so an identity without a secret means that the
 * secret was lost.
 * Rejects with {@link StoreRefused} for a store that must not be used, otherwise like the store.
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  const { stores, apart, requireStore } = options;
  for (;;) {
    if ((await readMigrationMark(stores.records))?.finishedAt === null) throw new StoreRefused(UNFINISHED);
    const found = await inspectStores(stores, { apart, requireStore, acceptForeignRenditions: true });
    try {
      const { secret, held } = await (found.held === null
        ? nameStore(options, found.isNew)
        : enterStore(options, found.held));
      const isMarked = held !== null && (await markRoles(options, found, held));
      return { id: held?.identity.id ?? null, secret, isMarked };
    } catch (error) {
      // Another process wrote first. Look again.
      if (!isServiceError(error, "conflict")) throw error;
    }
  }
}

interface EnteredStore {
  secret: Secret;
  /** `null`: there was no space for it. */
  held: HeldIdentity | null;
}

/** Adds the signing secret to the identity. Rejects with `conflict` when another process does at the same time. */
async function enterStore(options: OpenStoreOptions, held: HeldIdentity): Promise<EnteredStore> {
  const { identity, revision } = held;
  const secret = await secretOf(options);
  const fingerprints = fingerprintsOf(secret);
  const [signing = ""] = fingerprints;
  if (!fingerprints.some((each) => identity.secrets.includes(each))) throw new StoreRefused(wrong(options));
  if (identity.secrets.includes(signing)) return { secret, held };
  const inUse = fingerprints.filter((each) => identity.secrets.includes(each));
  const secrets = [...new Set([signing, ...inUse, ...identity.secrets])].slice(0, MAX_SECRETS);
  const next = { ...identity, secrets };
  const written = await ifRoom(writeIdentity(options.stores.records, next, revision));
  return { secret, held: written === null ? held : { identity: next, revision: written } };
}

/** Rejects with `conflict` when another process names the store at the same time. */
async function nameStore(options: OpenStoreOptions, isNew: boolean): Promise<EnteredStore> {
  const { now, log } = options;
  const { records } = options.stores;
  const secret = isNew ? await firstSecretOf(options) : await secretOf(options);
  const identity: StoreIdentity = newIdentity(fingerprintsOf(secret).slice(0, MAX_SECRETS), now());
  const writing = writeIdentity(records, identity, null);
  const revision = isNew ? await writing : await ifRoom(writing);
  if (isNew) logNew(records, identity, log);
  return { secret, held: revision === null ? null : { identity, revision } };
}

/** Writes missing marks. Rejects with `conflict` when another process writes at the same time. @returns whether the originals have one. */
async function markRoles(
  { stores, apart }: OpenStoreOptions,
  { marks }: InspectedStores,
  { identity, revision }: HeldIdentity,
): Promise<boolean> {
  const mark = (role: BytesRole) => writeMark(stores[role], role, identity.id, null);
  // Images are served without renditions. A later check writes their mark, or compares an unreadable one or one of another process.
  if (apart.includes("renditions") && marks.renditions === null)
    await isSettledWithin(mark("renditions"), CACHE_PATIENCE_MS);
  if (!apart.includes("originals")) return marks.originals !== null;
  if (marks.originals === null && (await ifRoom(mark("originals").then(() => true))) === null) return false;
  if (identity.originalsApart !== true)
    await ifRoom(writeIdentity(stores.records, { ...identity, originalsApart: true }, revision));
  return true;
}

/** Awaits a write that is not needed to serve and delete images. @returns its result; `null`: there was no space. */
function ifRoom<T>(writing: Promise<T>): Promise<T | null> {
  return writing.catch(onCode("no_space", null));
}

async function firstSecretOf(options: OpenStoreOptions): Promise<Secret> {
  const { records } = options.stores;
  return options.secret !== undefined || !isLocalStore(records) ? secretOf(options) : records.localSecret();
}

/** The secret in use. Never creates one: a new secret would invalidate every PIN. */
async function secretOf({ secret, stores: { records } }: OpenStoreOptions): Promise<Secret> {
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

function wrong({ secret, stores: { records } }: OpenStoreOptions): string {
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
