import { closeSync, existsSync, openSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { memoized } from "@outrigger/core/values";
import type Database from "libsql";
import { loadLibsql } from "./load-libsql.ts";
import { SQLITE, type SqlDriver, type SqlRunner, type SqlValue, type WriteOptions } from "./sql-driver.ts";
import { closedError, isBusy, toServiceError } from "./sql-errors.ts";

export interface SqliteSettings {
  path: string;
  timeoutMs: number;
}

/**
 * The library blocks the thread while it waits for a lock. It therefore waits 10 ms at most; the driver
 * retries with pauses.
 */
const BLOCKING_MS = 10;
const RETRY_MS = 5;
const CACHE_KIB = 65_536;
/**
 * Size of the log before a checkpoint, in pages: 128 MB, as several batches of an import write. A page that several writes
 * changed is copied back only once.
 */
const CHECKPOINT_PAGES = 32_000;
const TRUNCATE_LOG = "PRAGMA wal_checkpoint(TRUNCATE)";

/**
 * A driver of a file that several processes may share. It has two connections: reads see the committed data while
 * one transaction at a time runs on the other. Throws if the library cannot be loaded.
 */
export class SqliteDriver implements SqlDriver {
  readonly dialect = SQLITE;
  readonly timeoutMs: number;
  readonly #settings: SqliteSettings;
  readonly #inOrder = createSequence();
  #opening: Promise<Connections> | null = null;
  /** Set once the file is open: reads then run at once. */
  #open: Connections | null = null;
  #isClosed = false;

  constructor(settings: SqliteSettings) {
    loadLibsql();
    this.#settings = settings;
    this.timeoutMs = settings.timeoutMs;
  }

  all<Row>(text: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return this.#read((runner) => runner.all<Row>(text, values));
  }

  first<Row>(text: string, values?: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#read((runner) => runner.first<Row>(text, values));
  }

  run(text: string, values?: readonly SqlValue[]): Promise<number> {
    return this.#transaction(({ runner }) => runner.run(text, values));
  }

  async write<T>(
    work: (runner: SqlRunner) => Promise<T>,
    { isErasure = false }: WriteOptions = {},
  ): Promise<T> {
    const result = await this.#transaction(({ runner }) => work(runner));
    if (isErasure) await this.#truncateLog();
    return result;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#inOrder(async () => {
      // If opening failed there is nothing to close, and the callers have received the error.
      const connections = await this.#opening?.catch(() => null);
      connections?.writer.database.exec(TRUNCATE_LOG);
      connections?.reader.database.close();
      connections?.writer.database.close();
    });
  }

  #opened(): Promise<Connections> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (this.#opening === null) {
      const opening = this.#unlessBusy(() => {
        this.#open = connectTwice(this.#settings.path);
        return this.#open;
      });
      this.#opening = opening;
      // The next call tries again.
      opening.catch(() => {
        this.#opening = null;
      });
    }
    return this.#opening;
  }

  /** Retries `work` until another process releases the lock, at most for `timeoutMs`. */
  async #unlessBusy<T>(work: () => T): Promise<T> {
    const deadlineMs = performance.now() + this.timeoutMs;
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadlineMs) throw error;
      }
      await delay(RETRY_MS);
      if (this.#isClosed) throw closedError();
    }
  }

  #transaction<T>(work: (writer: SqliteConnection) => Promise<T>): Promise<T> {
    return this.#inOrder(async () => {
      try {
        const { writer } = await this.#opened();
        await this.#unlessBusy(() => writer.database.exec("BEGIN IMMEDIATE"));
        try {
          const result = await work(writer);
          writer.database.exec("COMMIT");
          return result;
        } catch (error) {
          // After some errors, such as a full disk, SQLite has already rolled the transaction back.
          if (writer.database.inTransaction) writer.database.exec("ROLLBACK");
          throw error;
        }
      } catch (error) {
        throw toServiceError(error);
      }
    });
  }

  /**
   * Copies the log into the file and empties it. A process that reads meanwhile delays that; after `timeoutMs` the
   * next erasure or `close` does it.
   */
  async #truncateLog(): Promise<void> {
    await this.#inOrder(async () => {
      const { writer } = await this.#opened();
      const deadlineMs = performance.now() + this.timeoutMs;
      const isLogBusy = () => (writer.database.prepare(TRUNCATE_LOG).get() as { busy: number }).busy !== 0;
      while (isLogBusy() && performance.now() < deadlineMs) await delay(RETRY_MS);
    });
  }

  /** Not an async function, because every question asks several times. */
  #read<T>(work: (runner: SqlRunner) => Promise<T>): Promise<T> {
    if (this.#open === null || this.#isClosed) {
      return this.#opened().then(({ reader }) => work(reader.runner), rethrown);
    }
    return work(this.#open.reader.runner);
  }
}

interface SqliteConnection {
  database: Database.Database;
  runner: SqlRunner;
}

interface Connections {
  reader: SqliteConnection;
  writer: SqliteConnection;
}

function connectTwice(path: string): Connections {
  makePrivate(path);
  const writer = connect(path);
  try {
    return { writer, reader: connect(path) };
  } catch (error) {
    writer.database.close();
    throw error;
  }
}

/** Creates a missing file readable by this user only: it holds personal data. SQLite gives the files beside it the same mode. */
export function makePrivate(path: string): void {
  // Closing an existing file would release the locks that SQLite holds on it in this process.
  if (existsSync(path)) return;
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch {
    // SQLite reports why the file cannot be created.
  }
}

function connect(path: string): SqliteConnection {
  const Libsql = loadLibsql();
  const database = new Libsql(path, { timeout: BLOCKING_MS });
  const pragmas = [
    "journal_mode = WAL",
    // Acknowledged writes survive a crash of the process, and not always a power cut.
    "synchronous = NORMAL",
    `cache_size = -${CACHE_KIB}`,
    "temp_store = MEMORY",
    // Overwrites deleted bytes with zeros: erased people must not stay in free pages.
    "secure_delete = ON",
    `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
  ];
  try {
    database.exec(pragmas.map((pragma) => `PRAGMA ${pragma};`).join(" "));
  } catch (error) {
    database.close();
    throw error;
  }
  return { database, runner: createRunner(database) };
}

/** Prepares each statement once for all its rows, and once for the first. */
function createRunner(database: Database.Database): SqlRunner {
  // In SQLite `$1` is a name; `?1` is a number.
  const prepare = (text: string) => database.prepare(text.replaceAll(/\$(\d+)/g, "?$1"));
  const prepared = memoized(prepare);
  const first = memoized((text: string) => {
    // `get` takes half as long as `all`, and less without names. It would also add a property to a row with names.
    const statement = prepare(text).raw();
    const names = statement.columns().map(({ name }) => name);
    return (values: readonly SqlValue[]) => {
      const found = statement.get(values) as SqlValue[] | undefined; // Raw.
      if (found === undefined) return undefined;
      const row: Record<string, SqlValue | undefined> = {};
      for (const [at, name] of names.entries()) row[name] = found[at];
      return row;
    };
  });

  return {
    // The text of the statement determines the type of its rows.
    all: <Row>(text: string, values: readonly SqlValue[] = []) =>
      settled(() => prepared(text).all(values) as Row[]),
    first: <Row>(text: string, values: readonly SqlValue[] = []) =>
      settled(() => first(text)(values) as Row | undefined),
    run: (text, values = []) => settled(() => prepared(text).run(values).changes),
  };
}

/** Runs work at once. Its promise costs less than an async function's. */
function settled<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(toServiceError(error));
  }
}

function rethrown(error: unknown): never {
  throw toServiceError(error);
}

/**
 * Returns a function that runs pieces of work one after another, in order. A failure does not stop the next.
 */
function createSequence(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined); // The caller receives the error; here only the end matters.
    return result;
  };
}
