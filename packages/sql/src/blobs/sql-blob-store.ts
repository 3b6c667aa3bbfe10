import { randomBytes } from "node:crypto";
import type { Readable } from "node:stream";
import { type ObservableWaits, ServiceError } from "@outrigger/core";
import {
  abortable,
  asBuffer,
  type BlobStore,
  checkBlobKey,
  checkDueList,
  checkDueQuery,
  checkOptions,
  consumeBody,
  type DueEntry,
  type DueIndex,
  dueName,
  type LeaseStore,
  MAX_DUE_MS,
  type RecordQueries,
  rangeWithin,
  rules,
  withBody,
  writeConflict,
} from "@outrigger/core/stores";
import { isPostgres } from "../sql-database.ts";
import { BlobConnection } from "./blob-connection.ts";
import { factColumns } from "./blob-statements.ts";
import { listBlobs } from "./list-blobs.ts";
import { createLookUps } from "./look-ups.ts";
import { warningsOf } from "./postgres-warnings.ts";
import { createSqlRecordQueries } from "./record-queries.ts";
import { createSqlLeases } from "./sql-leases.ts";

const RULES = {
  /**
   * `postgres://user:password@host:port/database`, with the parameters of `pg`, such as `?sslmode=verify-full`. It may
   * name PgBouncer in session or transaction mode.
   */
  url: rules.required(
    rules.secretText("of the form postgres://user:password@host:port/database", isPostgres),
  ),
  /**
   * Prefix of all tables: 1 to 30 lower-case letters, digits and `_`; the first is a letter. Stores with different
   * prefixes are independent.
   * @default "images"
   */
  prefix: rules.preset(
    "images",
    rules.text("1 to 30 lower-case letters, digits and _, of which the first is a letter", (prefix) =>
      /^[a-z][a-z0-9_]{0,29}$/.test(prefix),
    ),
  ),
  /** Time limit of connecting and of each statement, in milliseconds, 50 to 60,000. @default 2000 */
  timeoutMs: rules.preset(2000, rules.time(50, 60_000)),
  /** Maximum number of connections of this process, 1 to 1000. @default 10 */
  maxConnections: rules.preset(10, rules.whole(1, 1000)),
};

/** Address of the server and settings of a store. */
export interface SqlBlobStoreOptions extends rules.Options<typeof RULES> {}

/** Each blob is one value, which the server and this process hold in memory. */
const MAX_BLOB_BYTES = 16 * 2 ** 20;

/** A store in PostgreSQL, with a check of the server's settings. */
export interface SqlBlobStore extends BlobStore, DueIndex, LeaseStore, RecordQueries, ObservableWaits {
  /**
   * Checks the server for settings that lose blobs: no flushes, standbys that are not waited for. Each text names the
   * remedy; the list is empty if there is no such setting. Call it once and log the result.
   */
  warnings(): Promise<string[]>;
}

/**
 * A store of records, due lists and leases in PostgreSQL 13 or later, for any number of processes. A blob has at most 16 MiB:
 * a longer one rejects with `too_large`. Use it for records, and store originals and renditions elsewhere.
 *
 * Connects on demand: calls reject if the server fails. The first call creates the tables. Invalid options throw a `TypeError`
 * at once.
 */
export function createSqlBlobStore(options: SqlBlobStoreOptions): SqlBlobStore {
  const settings = checkOptions("createSqlBlobStore", options, RULES);
  const connection = new BlobConnection(settings);
  const lookUp = createLookUps(connection, settings.timeoutMs);

  async function write(key: string, bytes: Buffer, ifRevision: string | null | undefined) {
    const revision = randomBytes(12).toString("base64url");
    const { create, replace, update } = connection.statementsFor(key);
    const row = [key, revision, bytes, ...factColumns(key, bytes)];
    const changed =
      typeof ifRevision === "string"
        ? connection.change(update, [...row, ifRevision])
        : connection.change(ifRevision === null ? create : replace, row);
    if ((await changed) === 0) throw writeConflict();
    return { size: bytes.length, revision };
  }

  return {
    put: (key, body, { ifRevision, signal } = {}) =>
      withBody(body, async () => {
        signal?.throwIfAborted();
        checkBlobKey(key);
        // Before a body is read that could not be stored.
        await abortable(connection.ready(), signal);
        const bytes = await gather(body, signal);
        signal?.throwIfAborted();
        // From here on the blob may be stored, whether or not the signal aborts or the reply arrives.
        return await write(key, bytes, ifRevision);
      }),

    async get(key, { range, signal } = {}) {
      checkBlobKey(key);
      signal?.throwIfAborted();
      const row = await abortable(lookUp(key, signal), signal);
      if (row === undefined) return null;
      const { revision, bytes } = row;
      const size = bytes.length;
      if (range === undefined) return { size, revision, body: bytes };
      const { start, end } = rangeWithin(range, size);
      return { size, revision, body: bytes.subarray(start, end + 1) };
    },

    async stat(key) {
      checkBlobKey(key);
      return (await connection.first(connection.statementsFor(key).stat, [key])) ?? null;
    },

    async delete(key) {
      checkBlobKey(key);
      return (await connection.change(connection.statementsFor(key).remove, [key])) > 0;
    },

    list: (prefix, listOptions = {}) => listBlobs(connection, prefix, listOptions),
    ...createSqlRecordQueries(connection),
    ...createSqlDueIndex(connection),
    ...createSqlLeases(connection),
    warnings: async () => warningsOf(await connection.ready()),
    observeWaits: (observer) => connection.observeWaits(observer),
    close: () => connection.close(),
  };
}

/** Entries as rows, which the primary key orders by time. IDs spread them over the partitions, so no page has all new entries. */
function createSqlDueIndex(connection: BlobConnection): DueIndex {
  const { due } = connection.tables;
  const LIST = `SELECT id, due_ms AS "dueMs" FROM ${due} WHERE list = $1 AND due_ms <= $2 ORDER BY due_ms, id LIMIT $3`;

  return {
    async addDue(list, entry, signal) {
      check(list, entry);
      signal?.throwIfAborted();
      await connection.change(connection.statementsFor(entry.id).addDue, [list, entry.dueMs, entry.id]);
    },

    async removeDue(list, entry) {
      check(list, entry);
      await connection.change(connection.statementsFor(entry.id).removeDue, [list, entry.dueMs, entry.id]);
    },

    async listDue(list, untilMs, limit) {
      checkDueList(list);
      checkDueQuery(untilMs, limit);
      return await connection.all<DueEntry>(LIST, [list, Math.min(untilMs, MAX_DUE_MS), limit]);
    },
  };
}

/** Throws `bad_request` for an invalid list or entry. */
function check(list: string, entry: DueEntry): void {
  checkDueList(list);
  dueName(entry); // Throws for an invalid entry.
}

/** All bytes of a body, which is consumed. */
async function gather(body: Uint8Array | Readable, signal: AbortSignal | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Uint8Array | string) => {
    const bytes = asBuffer(chunk);
    size += bytes.length;
    if (size > MAX_BLOB_BYTES) {
      throw new ServiceError(
        "too_large",
        "A blob in PostgreSQL has at most 16 MiB: store larger ones elsewhere.",
      );
    }
    chunks.push(bytes);
    return bytes;
  };
  if (body instanceof Uint8Array) return take(body);
  await consumeBody(body, signal, async (source) => {
    for await (const chunk of source) take(chunk);
  });
  return Buffer.concat(chunks, size);
}
