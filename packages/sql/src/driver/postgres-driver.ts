import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { isMigrated } from "../schema/is-migrated.ts";
import { POSTGRES, type SqlDriver, type SqlRunner, type WriteOptions } from "./sql-driver.ts";
import { closedError, toServiceError } from "./sql-errors.ts";

export interface PostgresSettings {
  url: string;
  maxConnections: number;
  timeoutMs: number;
}

/**
 * Advisory lock of transactions that change contacts: an arbitrary number that other software is unlikely to
 * use.
 */
const CONTACTS_LOCK = 7_310_411_902;
/** Time limit of a migration, which may wait for a migration by another process. */
const MIGRATION_MS = 30_000;
/** How long `close` waits for the server to end the connections. */
const GOODBYE_MS = 500;
const BIGINT_OID = 20;

/** Creates a driver that connects on demand and reconnects after a loss. */
export function createPostgresDriver(settings: PostgresSettings): SqlDriver {
  const { url, timeoutMs } = settings;
  const sockets = createPostgresSockets();
  const pool = createPool({ ...settings, createSocket: sockets.create });
  const names = new Map<string, string>();
  let closing: Promise<void> | null = null;

  function config(text: string, queryTimeoutMs: number) {
    // With a name, the server caches the plan.
    const name = names.get(text) ?? `outrigger_${names.size}`;
    names.set(text, name);
    return { name, text, query_timeout: queryTimeoutMs };
  }

  function createRunner(queryable: pg.Pool | pg.PoolClient, queryTimeoutMs: number): SqlRunner {
    const query = async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) => {
      if (closing !== null) throw closedError();
      try {
        return await queryable.query<Row>({ ...config(text, queryTimeoutMs), values: [...values] });
      } catch (error) {
        throw toServiceError(error);
      }
    };
    return {
      // The text of the statement determines the type of its rows.
      all: async <Row>(text: string, values: readonly unknown[] = []) =>
        (await query(text, values)).rows as Row[],
      first: async <Row>(text: string, values: readonly unknown[] = []) =>
        (await query(text, values)).rows[0] as Row | undefined,
      run: async (text, values) => (await query(text, values)).rowCount ?? 0,
    };
  }

  async function write<T>(work: (runner: SqlRunner) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    if (closing !== null) throw closedError();
    const client = await pool.connect().catch((error) => {
      throw toServiceError(error);
    });
    const runner = createRunner(client, options.timeoutMs ?? timeoutMs);
    let failure: Error | undefined;
    try {
      await runner.run("BEGIN");
      if (options.timeoutMs !== undefined) {
        await runner.first("SELECT set_config('statement_timeout', $1, true)", [String(options.timeoutMs)]);
      }
      if (options.isAlone) await runner.first(`SELECT pg_advisory_xact_lock(${CONTACTS_LOCK})`);
      const result = await work(runner);
      await runner.run("COMMIT");
      return result;
    } catch (error) {
      failure = toServiceError(error);
      throw failure;
    } finally {
      // After an error the connection is closed, which rolls its transaction back.
      client.release(failure);
    }
  }

  const runner = createRunner(pool, timeoutMs);
  return {
    ...runner,
    dialect: POSTGRES,
    timeoutMs,
    write,

    async migrate() {
      if (closing !== null) throw closedError();
      // Checks within `timeoutMs` that the server answers; the migration itself may take longer.
      if (await isMigrated(runner, "postgres")) return;
      const { migratePostgres } = await import("../schema/migrate.ts");
      const sole = createPool({
        url,
        maxConnections: 1,
        timeoutMs,
        statementMs: MIGRATION_MS,
        createSocket: sockets.create,
      });
      try {
        await migratePostgres(sole);
      } catch (error) {
        throw toServiceError(error);
      }
    },

    close() {
      closing ??= (async () => {
        await Promise.race([pool.end(), delay(GOODBYE_MS, undefined, { ref: false })]);
        sockets.destroyAll();
      })();
      return closing;
    },
  };
}

interface PoolSettings extends PostgresSettings {
  /** @default timeoutMs */
  statementMs?: number;
  createSocket: () => Socket;
}

function createPool({
  url,
  maxConnections,
  timeoutMs,
  statementMs = timeoutMs,
  createSocket,
}: PoolSettings): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: statementMs,
    // The server aborts statements whose call has timed out.
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: Math.max(60_000, statementMs),
    keepAlive: true,
    application_name: "outrigger",
    stream: createSocket,
    types: { getTypeParser },
  } as pg.PoolConfig); // The types lack a function for `stream`.
  // A connection lost while idle is replaced on demand. If it is lost during a call, the call rejects.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** Parses bigint as a number: counts and IDs are far below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format as "text");

/** The sockets of a pool. `close` destroys them, because a hung server would keep the process alive. */
interface PostgresSockets {
  create(): Socket;
  destroyAll(): void;
}

function createPostgresSockets(): PostgresSockets {
  const open = new Set<Socket>();
  return {
    create() {
      const socket = new Socket();
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      return socket;
    },
    destroyAll() {
      for (const socket of open) socket.destroy();
    },
  };
}
