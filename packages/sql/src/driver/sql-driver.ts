/** What a statement takes. Lists and rows go as JSON, see {@link SqlDialect}. */
export type SqlValue = string | number | null;

/** Runs statements, which are written as PostgreSQL's are, with `$1`. Every failure is a `ServiceError`. */
export interface SqlRunner {
  all<Row>(text: string, values?: readonly SqlValue[]): Promise<Row[]>;
  /** The first row. */
  first<Row>(text: string, values?: readonly SqlValue[]): Promise<Row | undefined>;
  /** @returns how many rows were changed. */
  run(text: string, values?: readonly SqlValue[]): Promise<number>;
}

export interface WriteOptions {
  /**
   * Waits for others who change contacts: what is read in the transaction stays true until its end. An embedded database has
   * but one writer anyway.
   * @default false
   */
  isAlone?: boolean;
  /** How long one statement may take, in milliseconds. @default that of the database */
  timeoutMs?: number;
}

/** A database, whichever it is. */
export interface SqlDriver extends SqlRunner {
  readonly dialect: SqlDialect;
  /** How long one statement may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Brings the schema up to date. Processes that do so at once wait for each other. */
  migrate(): Promise<void>;
  /** One transaction: all of it or, when `work` rejects, nothing. */
  write<T>(work: (runner: SqlRunner) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Calls that are under way may reject, and so does every later one. Calling it twice is allowed. */
  close(): Promise<void>;
}

/** Where the two databases differ in words. */
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
