import { factsOf } from "@outrigger/core/stores";

/** Partitions of each table. They are created once: the number must never change. */
export const PARTS = 32;

/** Names of a store's tables. */
export interface BlobTables {
  blobs: string;
  due: string;
  leases: string;
  schema: string;
}

export function blobTables(prefix: string): BlobTables {
  return {
    blobs: `${prefix}_blobs`,
    due: `${prefix}_due`,
    leases: `${prefix}_leases`,
    schema: `${prefix}_schema`,
  };
}

/**
 * The statements of one partition. Each names it as a constant, so that the server plans for its table alone and keeps the
 * plan. The last parameter of those that write is the deadline of the call.
 */
export interface PartStatements {
  get: string;
  stat: string;
  create: string;
  replace: string;
  update: string;
  remove: string;
  list: string;
  addDue: string;
  removeDue: string;
}

/**
 * Makes the transaction wait for the disk if the server's default is not to. Other values of the setting are kept: they also
 * wait for standbys, or for the disk only.
 */
const DURABLY = `set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true) IS NOT NULL`;

/**
 * Fails once the call has timed out: a server that hung must not write for it later. The failure is that a time is no
 * boolean; of the expressions that fail, this one is not evaluated when planning.
 */
function inTime(parameter: string): string {
  const isInTime = `clock_timestamp() < to_timestamp(${parameter}::float8 / 1000)`;
  return `CASE WHEN ${isInTime} THEN true ELSE clock_timestamp()::text::boolean END`;
}

/** Columns of the facts of a record, in the order of {@link factColumns}. */
const FACTS = "state, size, owner, created_at, expires_at, delete_after";

/** Values of the columns of facts. All are null for a blob without facts. */
export function factColumns(key: string, bytes: Buffer): (string | number | null)[] {
  const facts = factsOf(key, bytes);
  // A text in PostgreSQL has no such character, and one in an index has a limit.
  const isStorable = facts !== null && !facts.owner?.includes("\0") && (facts.owner?.length ?? 0) <= 500;
  if (!isStorable) return [null, null, null, null, null, null];
  const { state, size, owner, createdAt, expiresAt, deleteAfter } = facts;
  return [state, size, owner, createdAt, expiresAt, deleteAfter];
}

/** The statements of all partitions, by number. */
export function partStatements({ blobs, due }: BlobTables): readonly PartStatements[] {
  return Array.from({ length: PARTS }, (_, number) => {
    const part = `${number}::smallint`;
    const insert = `INSERT INTO ${blobs} (part, key, revision, bytes, ${FACTS})
      SELECT ${part}, $1::text, $2::text, $3::bytea,
        $4::text, $5::bigint, $6::text, $7::bigint, $8::bigint, $9::bigint
      WHERE ${inTime("$10")} AND ${DURABLY}`;
    return {
      get: `SELECT revision, bytes FROM ${blobs} WHERE part = ${part} AND key = $1`,
      stat: `SELECT revision, octet_length(bytes) AS size FROM ${blobs} WHERE part = ${part} AND key = $1`,
      create: `${insert} ON CONFLICT (part, key) DO NOTHING`,
      replace: `${insert} ON CONFLICT (part, key) DO UPDATE SET
        (revision, bytes, ${FACTS}) = (excluded.revision, excluded.bytes, ${FACTS.replaceAll(/\w+/g, "excluded.$&")})`,
      update: `UPDATE ${blobs} SET (revision, bytes, ${FACTS}) = ROW ($2, $3, $4, $5, $6, $7, $8, $9)
        WHERE part = ${part} AND key = $1 AND revision = $10 AND ${inTime("$11")} AND ${DURABLY}`,
      remove: `DELETE FROM ${blobs} WHERE part = ${part} AND key = $1 AND ${inTime("$2")} AND ${DURABLY}`,
      list: `SELECT key FROM ${blobs} WHERE part = ${part} AND key > $1 AND key < $2 ORDER BY key LIMIT $3`,
      addDue: `INSERT INTO ${due} (part, list, due_ms, id)
        SELECT ${part}, $1::text, $2::bigint, $3::text WHERE ${inTime("$4")} AND ${DURABLY} ON CONFLICT DO NOTHING`,
      removeDue: `DELETE FROM ${due} WHERE part = ${part} AND list = $1 AND due_ms = $2 AND id = $3 AND ${inTime("$4")}`,
    };
  });
}

/**
 * The partition of a blob's key or of an entry's ID. All keys with one first segment, and so all of an image, lie in one
 * partition. FNV-1a spreads IDs of any form evenly; it must never change.
 */
export function partOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    if (code === 0x2f) break;
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  return (hash >>> 16) % PARTS;
}
