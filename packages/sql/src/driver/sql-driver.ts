/** A parameter of a statement. Lists and rows are passed as JSON; see {@link SqlDialect}. */
export type SqlValue = string | number | null;

/** Runs statements in PostgreSQL's syntax, with parameters `$1`. Every failure is a `ServiceError`. */
export interface SqlRunner {
  all<Row>(text: string, values?: readonly SqlValue[]): Promise<Row[]>;
  /** Returns the first row; `undefined` if there is none. */
  first<Row>(text: string, values?: readonly SqlValue[]): Promise<Row | undefined>;
  /** @returns the number of changed rows. */
  run(text: string, values?: readonly SqlValue[]): Promise<number>;
}

export interface WriteOptions {
  /**
   * Excludes other transactions that change contacts, so that contacts read in this transaction stay current until
   * it ends. An embedded database always has only one writer.
   * @default false
   */
  isAlone?: boolean;
  /** Time limit of one statement, in milliseconds. @default that of the database */
  timeoutMs?: number;
  /**
   * Removes the deleted bytes from the log of an embedded database, too. The vacuum of PostgreSQL does the same later.
   * @default false
   */
  isErasure?: boolean;
}

/** A database of either kind. */
export interface SqlDriver extends SqlRunner {
  readonly dialect: SqlDialect;
  /** Time limit of one statement, in milliseconds. */
  readonly timeoutMs: number;
  /** Runs `work` in one transaction, which is rolled back if `work` rejects. */
  write<T>(work: (runner: SqlRunner) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Closes the connections. Calls under way may reject; all later calls do. May be called twice. */
  close(): Promise<void>;
}

/** SQL fragments that differ between the two databases. */
export interface SqlDialect {
  readonly kind: "sqlite" | "postgres";
  /** A table `each` with one column, `value`: the elements of a JSON array of arrays, `each.value->>0` and so on. */
  rows(parameter: string): string;
  /** A subquery of the strings in a JSON array. */
  strings(parameter: string): string;
}

export const SQLITE: SqlDialect = {
  kind: "sqlite",
  rows: (parameter) => `json_each(${parameter}) AS each`,
  strings: (parameter) => `(SELECT value FROM json_each(${parameter}))`,
};

export const POSTGRES: SqlDialect = {
  kind: "postgres",
  rows: (parameter) => `json_array_elements(${parameter}::json) AS each(value)`,
  strings: (parameter) => `(SELECT value FROM json_array_elements_text(${parameter}::json) AS each(value))`,
};
