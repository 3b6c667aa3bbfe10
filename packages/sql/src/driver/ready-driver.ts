import type { SqlDriver, SqlRunner, SqlValue, WriteOptions } from "./sql-driver.ts";
import { closedError } from "./sql-errors.ts";

/** A driver that is prepared before its first statement, for example by a migration. */
export class ReadyDriver<Inner extends SqlDriver = SqlDriver> implements SqlDriver {
  readonly dialect: SqlDriver["dialect"];
  readonly timeoutMs: number;
  readonly #inner: Inner;
  readonly #prepare: () => Promise<void>;
  readonly #closesInner: boolean;
  #readiness: Promise<Inner> | null = null;
  #isPrepared = false;
  #isClosed = false;

  /**
   * @param prepare Called at the first use, and again after a failure.
   * @param closesInner Whether `close` closes `inner`; otherwise only this driver.
   */
  constructor(inner: Inner, prepare: () => Promise<void>, closesInner = true) {
    this.dialect = inner.dialect;
    this.timeoutMs = inner.timeoutMs;
    this.#inner = inner;
    this.#prepare = prepare;
    this.#closesInner = closesInner;
  }

  /** Resolves once the driver is prepared. */
  ready(): Promise<Inner> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (this.#readiness === null) {
      const readiness = this.#prepare().then(() => {
        this.#isPrepared = true;
        return this.#inner;
      });
      this.#readiness = readiness;
      // The next call tries again.
      readiness.catch(() => {
        this.#readiness = null;
      });
    }
    return this.#readiness;
  }

  all<Row>(text: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return this.#once((inner) => inner.all(text, values));
  }

  first<Row>(text: string, values?: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#once((inner) => inner.first(text, values));
  }

  run(text: string, values?: readonly SqlValue[]): Promise<number> {
    return this.#once((inner) => inner.run(text, values));
  }

  write<T>(work: (runner: SqlRunner) => Promise<T>, options?: WriteOptions): Promise<T> {
    return this.#once((inner) => inner.write(work, options));
  }

  // Not async: promises are much of the cost of a short statement.
  #once<T>(work: (inner: Inner) => Promise<T>): Promise<T> {
    return this.#isPrepared && !this.#isClosed ? work(this.#inner) : this.ready().then(work);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#closesInner) await this.#inner.close();
  }
}
