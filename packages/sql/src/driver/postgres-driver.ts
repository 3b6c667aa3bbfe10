import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { isMigrated, type Schema } from "../schema/is-migrated.ts";
import type { Migrations } from "../schema/migrate.ts";
import { createPool, createPostgresSockets } from "./postgres-pool.ts";
import { POSTGRES, type SqlDriver, type SqlRunner, type SqlValue, type WriteOptions } from "./sql-driver.ts";
import { closedError, isConflict, isNoPrimary, toServiceError } from "./sql-errors.ts";

export interface PostgresSettings {
  url: string;
  maxConnections: number;
  timeoutMs: number;
  schema: Schema;
  /** Loads the migrations of the schema: most starts need none. */
  loadMigrations: () => Promise<Migrations>;
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
/** Longest pause after a serialization failure. */
const CONFLICT_PAUSE_MS = 20;

export interface PostgresDriver extends SqlDriver {
  /**
   * As `run`. The last parameter of the statement is added: the time at which this call rejects, in Unix milliseconds of the
   * server's clock.
   */
  runInTime(text: string, values: readonly (SqlValue | Buffer)[]): Promise<number>;
}

/**
 * Makes a query fail on a standby, whose rows may be older than acknowledged writes, also if it finds none. Each query has to
 * prove it: behind a pooler, the next one may run on another server. Writes fail there by themselves.
 */
export function onPrimary(text: string): string {
  if (/^\s*(?:INSERT|UPDATE|DELETE)\b/.test(text)) return text;
  // Evaluated once, before the first row. Of the functions that fail on a standby, this one changes nothing.
  const isPrimary = "CASE WHEN pg_is_in_recovery() THEN pg_current_wal_lsn() IS NOT NULL ELSE true END";
  return `SELECT * FROM (${text}) AS found WHERE (SELECT ${isPrimary})`;
}

/** Creates a driver that connects on demand and reconnects after a loss. */
export function createPostgresDriver(settings: PostgresSettings): PostgresDriver {
  const { timeoutMs, schema } = settings;
  const sockets = createPostgresSockets();
  const {
    pool,
    sessionOf,
    connect: connectNow,
    renew,
  } = createPool({ ...settings, createSocket: sockets.create });
  const names = new Map<string, string>();
  let closing: Promise<void> | null = null;

  async function connect(): Promise<pg.PoolClient> {
    if (closing !== null) throw closedError();
    return await connectNow();
  }

  function nameOf(text: string): string {
    const name = names.get(text) ?? `outrigger_${names.size}`;
    names.set(text, name);
    return name;
  }

  async function query<Row extends pg.QueryResultRow>(
    client: pg.PoolClient,
    text: string,
    values: readonly unknown[],
    queryTimeoutMs: number,
  ) {
    if (closing !== null) throw closedError();
    // With a name, the server caches the plan. Behind a pooler, each query may run in another session, which lacks it.
    const name = sessionOf(client).isDirect ? { name: nameOf(text) } : {};
    try {
      return await inTime(client.query<Row>({ ...name, text, values: [...values] }), queryTimeoutMs);
    } catch (error) {
      // The other connections may lead to the same server.
      if (isNoPrimary(error)) renew();
      throw error;
    }
  }

  function createRunner(
    perform: <Row extends pg.QueryResultRow>(
      text: string,
      values: readonly unknown[],
    ) => Promise<pg.QueryResult<Row>>,
  ): SqlRunner {
    const run = async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) => {
      try {
        return await perform<Row>(text, values);
      } catch (error) {
        throw toServiceError(error);
      }
    };
    return {
      // The text of the statement determines the type of its rows.
      all: async <Row>(text: string, values?: readonly unknown[]) =>
        (await run(onPrimary(text), values)).rows as Row[],
      first: async <Row>(text: string, values?: readonly unknown[]) =>
        (await run(onPrimary(text), values)).rows[0] as Row | undefined,
      run: async (text, values) => (await run(text, values)).rowCount ?? 0,
    };
  }

  async function write<T>(work: (runner: SqlRunner) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    const client = await connect().catch((error) => {
      throw toServiceError(error);
    });
    const runner = createRunner((text, values) =>
      query(client, text, values, options.timeoutMs ?? timeoutMs),
    );
    let failure: Error | undefined;
    try {
      await runner.run("BEGIN ISOLATION LEVEL READ COMMITTED");
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

  /**
   * Runs a statement, again after a serialization failure, which changed nothing: behind a pooler, the isolation is that of the
   * role.
   */
  async function perform<Row extends pg.QueryResultRow>(
    text: string,
    valuesFor: (client: pg.PoolClient) => readonly unknown[],
  ) {
    const untilMs = performance.now() + timeoutMs;
    for (;;) {
      try {
        return await performOnce<Row>(text, valuesFor);
      } catch (error) {
        if (!isConflict(error) || performance.now() > untilMs) throw error;
      }
      // At random, so that statements which conflicted do not meet again.
      await delay(Math.random() * CONFLICT_PAUSE_MS);
    }
  }

  /** Runs a statement on the next free connection. */
  async function performOnce<Row extends pg.QueryResultRow>(
    text: string,
    valuesFor: (client: pg.PoolClient) => readonly unknown[],
  ) {
    const client = await connect();
    let failure: unknown;
    try {
      return await query<Row>(client, text, valuesFor(client), timeoutMs);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // After another error, a reply of the server may still be on its way: the connection is closed.
      client.release(failure !== undefined && !isConflict(failure));
    }
  }

  const runner = createRunner((text, values) => perform(text, () => values));
  /** The time at which a call that begins now rejects, by the server's clock. */
  const deadlineOf = (client: pg.PoolClient) => sessionOf(client).aheadMs + performance.now() + timeoutMs;

  return {
    ...runner,
    dialect: POSTGRES,
    timeoutMs,
    write,

    async runInTime(text, values) {
      try {
        return (await perform(text, (client) => [...values, deadlineOf(client)])).rowCount ?? 0;
      } catch (error) {
        throw toServiceError(error);
      }
    },

    async migrate() {
      // Checks within `timeoutMs` that the server answers; the migration itself may take longer.
      if (await isMigrated(runner, "postgres", schema)) return;
      const [{ migratePostgres }, migrations] = await Promise.all([
        import("../schema/migrate.ts"),
        settings.loadMigrations(),
      ]);
      const sole = createPool({
        ...settings,
        maxConnections: 1,
        statementMs: MIGRATION_MS,
        createSocket: sockets.create,
      });
      try {
        await migratePostgres(sole.pool, schema, migrations);
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

/** Rejects if `work` takes longer. The caller closes its connection. */
function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // If this process was busy or suspended, the reply may be in the socket already: it is read before this callback runs.
      setImmediate(() => reject(new Error("Query read timeout")));
    }, timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
