import { setTimeout as delay } from "node:timers/promises";
import Database from "libsql";
import { migrateSqlite } from "../schema/migrate.ts";
import { SQLITE, type SqlDriver, type SqlRunner, type SqlValue } from "./sql-driver.ts";
import { closedError, isBusy, toServiceError } from "./sql-errors.ts";

export interface SqliteSettings {
  path: string;
  /** Whether what was acknowledged outlives a power cut, too. */
  isPowerSafe: boolean;
  timeoutMs: number;
}

/** The library blocks the process while it waits for a lock; so it waits briefly, and we wait between. */
const BLOCKING_MS = 10;
const RETRY_MS = 5;
const CACHE_KIB = 65_536;
/** Pages that many writes change are copied back once: 32 MB of them. */
const CHECKPOINT_PAGES = 8000;

/**
 * A file that this and other processes share. There are two connections: readers see what is committed, while one transaction
 * at a time is under way.
 */
export function createSqliteDriver({ path, isPowerSafe, timeoutMs }: SqliteSettings): SqlDriver {
  let opening: Promise<Connections> | null = null;
  let isClosed = false;
  const inTurn = createTurns();

  function opened(): Promise<Connections> {
    if (isClosed) return Promise.reject(closedError());
    if (opening === null) {
      const attempt = unlessBusy(() => connectTwice(path, isPowerSafe));
      opening = attempt;
      // The next call tries again.
      attempt.catch(() => {
        opening = null;
      });
    }
    return opening;
  }

  /** Waits for the lock that another process has. */
  async function unlessBusy<T>(work: () => T): Promise<T> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadlineMs) throw error;
      }
      await delay(RETRY_MS);
      if (isClosed) throw closedError();
    }
  }

  function transaction<T>(work: (writer: SqliteConnection) => Promise<T>): Promise<T> {
    return inTurn(async () => {
      try {
        const { writer } = await opened();
        await unlessBusy(() => writer.database.exec("BEGIN IMMEDIATE"));
        try {
          const result = await work(writer);
          writer.database.exec("COMMIT");
          return result;
        } catch (error) {
          // SQLite has ended it itself after some errors, a full disk for one.
          if (writer.database.inTransaction) writer.database.exec("ROLLBACK");
          throw error;
        }
      } catch (error) {
        throw toServiceError(error);
      }
    });
  }

  async function read<T>(work: (runner: SqlRunner) => Promise<T>): Promise<T> {
    try {
      const { reader } = await opened();
      return await work(reader.runner);
    } catch (error) {
      throw toServiceError(error);
    }
  }

  return {
    dialect: SQLITE,
    timeoutMs,
    all: (text, values) => read((runner) => runner.all(text, values)),
    first: (text, values) => read((runner) => runner.first(text, values)),
    run: (text, values) => transaction(({ runner }) => runner.run(text, values)),
    write: (work) => transaction(({ runner }) => work(runner)),
    migrate: () => transaction(({ database }) => migrateSqlite(database)),

    async close() {
      if (isClosed) return;
      isClosed = true;
      await inTurn(async () => {
        // Where it could not be opened there is nothing to close, and its callers know.
        const connections = await opening?.catch(() => null);
        connections?.reader.database.close();
        connections?.writer.database.close();
      });
    },
  };
}

interface SqliteConnection {
  database: Database.Database;
  runner: SqlRunner;
}

interface Connections {
  reader: SqliteConnection;
  writer: SqliteConnection;
}

function connectTwice(path: string, isPowerSafe: boolean): Connections {
  const writer = connect(path, isPowerSafe);
  try {
    return { writer, reader: connect(path, isPowerSafe) };
  } catch (error) {
    writer.database.close();
    throw error;
  }
}

function connect(path: string, isPowerSafe: boolean): SqliteConnection {
  const database = new Database(path, { timeout: BLOCKING_MS });
  const pragmas = [
    "journal_mode = WAL",
    `synchronous = ${isPowerSafe ? "FULL" : "NORMAL"}`,
    `cache_size = -${CACHE_KIB}`,
    "temp_store = MEMORY",
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

/** Prepares each statement once. */
function createRunner(database: Database.Database): SqlRunner {
  const statements = new Map<string, Database.Statement>();

  function prepared(text: string): Database.Statement {
    let statement = statements.get(text);
    if (statement === undefined) {
      // In SQLite `$1` is a name; `?1` is a number.
      statement = database.prepare(text.replaceAll(/\$(\d+)/g, "?$1"));
      statements.set(text, statement);
    }
    return statement;
  }

  return {
    // What a statement gives is up to its text, which whoever wrote it knows.
    all: async <Row>(text: string, values: readonly SqlValue[] = []) =>
      prepared(text).all([...values]) as Row[],
    first: async <Row>(text: string, values: readonly SqlValue[] = []) =>
      prepared(text).get([...values]) as Row | undefined,
    run: async (text, values = []) => prepared(text).run([...values]).changes,
  };
}

/** A function that runs its works one after another, in order, whether or not they fail. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined); // The caller has the error; here only its end matters.
    return result;
  };
}
