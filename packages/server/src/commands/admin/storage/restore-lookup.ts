import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { haveSameMarkers } from "@outrigger/core/lookup";
import type { BlobStore } from "@outrigger/core/stores";
import type { BackedUpLookup } from "@outrigger/ops";
import { createSqlSuppressionList, openDatabase } from "@outrigger/sql";
import { checkDatabaseFile, isEmptyDatabase } from "@outrigger/sql/backup";
import { writeAtomically } from "../../../cli/write-file.ts";
import { StartError } from "../../../config/config-error.ts";
import {
  type DatabaseTarget,
  databaseUrl,
  describeDatabase,
} from "../../../config/targets/database-target.ts";
import { makeDatabaseDirectory } from "../../../lookup/open-lookup-data.ts";
import { requireWhole } from "./lookup-copies.ts";
import { feed } from "./run-program.ts";

const RESTORE_ARGS = ["--data-only", "--single-transaction", "--exit-on-error", "--no-owner"];
const KINDS = { sqlite: "an embedded database", postgres: "PostgreSQL" };

const OTHER_SECRET =
  "the list of ends has suppressions made with another secret (lookup.secret). Pass a list of this database";

/**
 * Restores the lookup's database atomically.
 * @returns `false` for an existing database, which stays unchanged.
 * @throws StartError, ServiceError if the restore fails.
 */
export async function restoreLookup(
  backup: BlobStore,
  copy: BackedUpLookup,
  database: DatabaseTarget,
): Promise<boolean> {
  const kind = database.kind === "file" ? "sqlite" : "postgres";
  if (kind !== copy.kind) {
    throw new StartError(
      `The backup has the lookup's data from ${KINDS[copy.kind]}, but the configuration names ${describeDatabase(database)}: restore it to ${KINDS[copy.kind]}, then move the contacts with outrigger contacts export and import`,
    );
  }
  return database.kind === "file"
    ? restoreFile(backup, copy, database.path)
    : restorePostgres(backup, copy, database.url);
}

/**
 * Adds suppressions to an existing database and keeps those it has.
 * @throws StartError for suppressions made with another secret than those of the database.
 */
export async function addSuppressions(
  database: DatabaseTarget,
  lines: readonly (readonly string[])[],
): Promise<void> {
  const opened = openDatabase({ url: databaseUrl(database) });
  try {
    const list = createSqlSuppressionList(opened);
    if (!(await haveSameMarkers(list, lines.flat()))) throw new StartError(OTHER_SECRET);
    for (const tokens of lines) await list.add(tokens);
  } finally {
    await opened.close();
  }
}

async function restoreFile(backup: BlobStore, copy: BackedUpLookup, path: string): Promise<boolean> {
  if (existsSync(path)) return false;
  makeDatabaseDirectory(path);
  await requireWhole(backup, copy);
  await writeAtomically(path, await bodyOf(backup, copy), {
    replace: false,
    async verify(made) {
      try {
        checkDatabaseFile(made);
      } finally {
        for (const end of ["-wal", "-shm"]) await rm(`${made}${end}`, { force: true });
      }
    },
  });
  return true;
}

async function restorePostgres(backup: BlobStore, copy: BackedUpLookup, url: string): Promise<boolean> {
  const database = openDatabase({ url });
  try {
    if (!(await isEmptyDatabase(database))) return false;
  } finally {
    await database.close();
  }
  await requireWhole(backup, copy);
  await feed({ program: "pg_restore", args: RESTORE_ARGS, url }, await bodyOf(backup, copy));
  return true;
}

async function bodyOf(backup: BlobStore, { key }: BackedUpLookup): Promise<Readable> {
  const blob = await backup.get(key);
  if (blob === null) throw new StartError("The copy of the lookup's database is missing from the backup");
  return Buffer.isBuffer(blob.body) ? Readable.from([blob.body]) : blob.body;
}
