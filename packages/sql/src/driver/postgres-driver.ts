import { setTimeout as delay } from "node:timers/promises";
import type { Observer } from "@outrigger/core";
import type pg from "pg";
import { createPool, createPostgresSockets } from "./postgres-pool.ts";
import { POSTGRES, type SqlDriver, type SqlRunner, type SqlValue, type WriteOptions } from "./sql-driver.ts";
import { closedError, isConflict, isNoPrimary, toServiceError } from "./sql-errors.ts";

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
/** How long `close` waits for the server to end the connections. */
const GOODBYE_MS = 500;
/** Longest pause after a serialization failure. */
const CONFLICT_PAUSE_MS = 20;

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

type Perform = <Row extends pg.QueryResultRow>(
  text: string,
  values: readonly unknown[],
) => Promise<pg.QueryResult<Row>>;

/** Runs statements by `perform`. Its errors become those of the service. */
class PostgresRunner implements SqlRunner {
  readonly #perform: Perform;

  constructor(perform: Perform) {
    this.#perform = perform;
  }

  async all<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    // The text of the statement determines the type of its rows.
    return (await this.#run(onPrimary(text), values)).rows as Row[];
  }

  async first<Row>(text: string, values: readonly unknown[] = []): Promise<Row | undefined> {
    return (await this.#run(onPrimary(text), values)).rows[0] as Row | undefined;
  }

  async run(text: string, values: readonly unknown[] = []): Promise<number> {
    return (await this.#run(text, values)).rowCount ?? 0;
  }

  async #run(text: string, values: readonly unknown[]) {
    try {
      return await this.#perform(text, values);
    } catch (error) {
      throw toServiceError(error);
    }
  }
}

/** A driver that connects on demand and reconnects after a loss. */
export class PostgresDriver implements SqlDriver {
  readonly dialect = POSTGRES;
  readonly timeoutMs: number;
  readonly #sockets = createPostgresSockets();
  readonly #pool: ReturnType<typeof createPool>;
  readonly #runner: PostgresRunner;
  /** Names of statements by their text. */
  readonly #names = new Map<string, string>();
  #closing: Promise<void> | null = null;

  constructor(settings: PostgresSettings) {
    this.timeoutMs = settings.timeoutMs;
    this.#pool = createPool({ ...settings, createSocket: this.#sockets.create });
    this.#runner = new PostgresRunner((text, values) => this.#perform(text, () => values));
  }

  all<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#runner.all(text, values);
  }

  first<Row>(text: string, values?: readonly unknown[]): Promise<Row | undefined> {
    return this.#runner.first(text, values);
  }

  run(text: string, values?: readonly unknown[]): Promise<number> {
    return this.#runner.run(text, values);
  }

  async write<T>(work: (runner: SqlRunner) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    const client = await this.#connect().catch((error) => {
      throw toServiceError(error);
    });
    const timeoutMs = options.timeoutMs ?? this.timeoutMs;
    const runner = new PostgresRunner((text, values) => this.#query(client, text, values, timeoutMs));
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
   * As `run`. The last parameter of the statement is added: the time at which this call rejects, in Unix milliseconds of the
   * server's clock.
   */
  async runInTime(text: string, values: readonly (SqlValue | Buffer)[]): Promise<number> {
    try {
      const result = await this.#perform(text, (client) => [...values, this.#deadlineOf(client)]);
      return result.rowCount ?? 0;
    } catch (error) {
      throw toServiceError(error);
    }
  }

  /** See `ObservableWaits`. */
  observeWaits(observer: Observer): void {
    this.#pool.observeWaits(observer);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await Promise.race([this.#pool.pool.end(), delay(GOODBYE_MS, undefined, { ref: false })]);
    this.#sockets.destroyAll();
  }

  async #connect(): Promise<pg.PoolClient> {
    if (this.#closing !== null) throw closedError();
    return await this.#pool.connect();
  }

  /** The time at which a call that begins now rejects, by the server's clock. */
  #deadlineOf(client: pg.PoolClient): number {
    return this.#pool.sessionOf(client).aheadMs + performance.now() + this.timeoutMs;
  }

  /**
   * Runs a statement, again after a serialization failure, which changed nothing: behind a pooler, the isolation is that of the
   * role.
   */
  async #perform<Row extends pg.QueryResultRow>(
    text: string,
    valuesFor: (client: pg.PoolClient) => readonly unknown[],
  ): Promise<pg.QueryResult<Row>> {
    const untilMs = performance.now() + this.timeoutMs;
    for (;;) {
      try {
        return await this.#performOnce<Row>(text, valuesFor);
      } catch (error) {
        if (!isConflict(error) || performance.now() > untilMs) throw error;
      }
      // At random, so that statements which conflicted do not meet again.
      await delay(Math.random() * CONFLICT_PAUSE_MS);
    }
  }

  /** Runs a statement on the next free connection. */
  async #performOnce<Row extends pg.QueryResultRow>(
    text: string,
    valuesFor: (client: pg.PoolClient) => readonly unknown[],
  ): Promise<pg.QueryResult<Row>> {
    const client = await this.#connect();
    let failure: unknown;
    try {
      return await this.#query<Row>(client, text, valuesFor(client), this.timeoutMs);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // After another error, a reply of the server may still be on its way: the connection is closed.
      client.release(failure !== undefined && !isConflict(failure));
    }
  }

  async #query<Row extends pg.QueryResultRow>(
    client: pg.PoolClient,
    text: string,
    values: readonly unknown[],
    timeoutMs: number,
  ): Promise<pg.QueryResult<Row>> {
    if (this.#closing !== null) throw closedError();
    // With a name, the server caches the plan. Behind a pooler, each query may run in another session, which lacks it.
    const name = this.#pool.sessionOf(client).isDirect ? { name: this.#statementName(text) } : {};
    try {
      return await inTime(client.query<Row>({ ...name, text, values: [...values] }), timeoutMs);
    } catch (error) {
      // The other connections may lead to the same server.
      if (isNoPrimary(error)) this.#pool.renew();
      throw error;
    }
  }

  #statementName(text: string): string {
    const name = this.#names.get(text) ?? `outrigger_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
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
