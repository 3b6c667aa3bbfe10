import { createHash, randomBytes } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isServiceError, ServiceError } from "@outrigger/core";
import { type BlobStore, systemTemporaryDirectory, withBody } from "@outrigger/core/stores";
import type { BackedUpLookup } from "@outrigger/ops";
import { serviceReasonOf } from "../../../cli/error-reason.ts";
import { loadPart } from "../../../cli/parts.ts";
import { StartError } from "../../../config/config-error.ts";
import { type DatabaseTarget, describeDatabase } from "../../../config/targets/database-target.ts";
import { outputOf, type PostgresCall } from "./run-program.ts";

/** Selects the rows of the lookup's tables and nothing else in the database. */
const DUMP_ARGS = [
  ...["--format=custom", "--data-only", "--no-owner"],
  ...["--table=lookup_*", "--exclude-table=lookup_schema"],
];

/**
 * Copies the lookup's database into a backup, unless the backup already has the same copy.
 * @throws StartError, ServiceError if the copy fails; the backup then stays unchanged.
 */
export async function copyLookup(
  database: DatabaseTarget,
  to: BlobStore,
  earlier: BackedUpLookup | null,
): Promise<BackedUpLookup> {
  if (database.kind === "file") return copyFile(database.path, to, earlier);
  const call: PostgresCall = { program: "pg_dump", args: DUMP_ARGS, url: database.url };
  return put(to, "postgres", Readable.from(outputOf(call), { objectMode: false }));
}

async function copyFile(
  path: string,
  to: BlobStore,
  earlier: BackedUpLookup | null,
): Promise<BackedUpLookup> {
  if (!existsSync(path)) {
    throw new StartError(`There is no lookup database ${describeDatabase({ kind: "file", path })}`);
  }
  const { copyDatabaseFile } = await loadPart("lookup", () => import("@outrigger/sql/backup"));
  const directory = await mkdtemp(join(systemTemporaryDirectory(), "backup-"));
  try {
    const copy = join(directory, "lookup.db");
    copyDatabaseFile(path, copy);
    const hash = createHash("sha256");
    await pipeline(createReadStream(copy), hash);
    const isSame =
      earlier?.kind === "sqlite" &&
      earlier.sha256 === hash.digest("hex") &&
      (await to.stat(earlier.key))?.size === (await stat(copy)).size;
    return isSame ? { ...earlier, copiedAt: Date.now() } : await put(to, "sqlite", createReadStream(copy));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function put(to: BlobStore, kind: BackedUpLookup["kind"], body: Readable): Promise<BackedUpLookup> {
  const key = `backup/lookup/${randomBytes(8).toString("hex")}`;
  const hash = createHash("sha256");
  let size = 0;
  async function* passing(): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      hash.update(chunk as Buffer); // No encoding is set.
      size += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
  }
  await withBody(body, () => to.put(key, Readable.from(passing(), { objectMode: false })));
  const copied = { kind, key, size, sha256: hash.digest("hex"), copiedAt: Date.now() };
  await requireWhole(to, copied);
  return copied;
}

/** Why the lookup's database was not copied, as a clause without a full stop. Throws any other kind of error. */
export function whyNot(error: unknown): string {
  if (error instanceof StartError) return error.message;
  if (isServiceError(error)) return serviceReasonOf(error);
  throw error;
}

/** Reads a copy and verifies its size and SHA-256. Rejects with `damaged`. */
export async function requireWhole(
  backup: BlobStore,
  { key, size, sha256 }: Pick<BackedUpLookup, "key" | "size" | "sha256">,
): Promise<void> {
  const blob = await backup.get(key);
  const hash = createHash("sha256");
  if (blob !== null) {
    await pipeline(Buffer.isBuffer(blob.body) ? Readable.from([blob.body]) : blob.body, hash);
  }
  if (blob?.size === size && hash.digest("hex") === sha256) return;
  throw new ServiceError(
    "damaged",
    `The copy of the lookup's database in the backup (key "${key}") is damaged`,
  );
}
