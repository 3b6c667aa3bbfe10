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
  return {
    driver: async () => {
      if (isClosed) throw closedError();
      return await readyDriver(database);
    },
    close: async () => {
      isClosed = true;
    },
  };
}
