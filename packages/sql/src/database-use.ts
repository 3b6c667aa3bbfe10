import type { SqlDriver } from "./driver/sql-driver.ts";
import { closedError } from "./driver/sql-errors.ts";
import { checkDatabase, readyDriver, type SqlDatabase } from "./sql-database.ts";

/** The use of a shared database by one part, such as accounts. Closing the part leaves the database open. */
export interface DatabaseUse {
  driver(): Promise<SqlDriver>;
  close(): Promise<void>;
}

export function useDatabase(database: SqlDatabase): DatabaseUse {
  checkDatabase(database);
  let isClosed = false;
  /** Once the database is ready. */
  let ready: Promise<SqlDriver> | null = null;
  return {
    driver() {
      if (isClosed) return Promise.reject(closedError());
      if (ready !== null) return ready;
      const driver = readyDriver(database);
      // After a failure, the next call tries again.
      driver.then(
        () => {
          ready = driver;
        },
        () => undefined,
      );
      return driver;
    },
    close: async () => {
      isClosed = true;
    },
  };
}
