/** A list of addresses that an account has verified in the background. */
export interface VerificationList {
  /** `[A-Za-z0-9_-]{1,64}` */
  id: string;
  /** The account that pays; `null`: the verifications are not counted. */
  account: string | null;
  /** The account's plan when the list was added. */
  plan: string;
  /** The names of the columns of an uploaded table; `null` for a list of addresses only. */
  header: readonly string[] | null;
  /** Number of rows. */
  total: number;
  /** Number of rows with a result. */
  done: number;
  /** Whether any row was taken. */
  isStarted: boolean;
  /** Unix milliseconds. */
  createdAt: number;
}

/** A row of a list. */
export interface VerificationRow {
  /** The address as the caller wrote it. */
  email: string;
  /** The normalised address without its tag, by which the row is erased; `null` for a text that is no address. */
  subject: string | null;
  /** The line of an uploaded table, one text for each column; `null` without a table. */
  columns: readonly string[] | null;
  /** A text that only the service reads; `null` until the row is finished. */
  result: string | null;
}

/** What a list adds to the bytes of its account. */
export interface ListSize {
  bytes: number;
  /** `null`: no limit. */
  maxBytes: number | null;
}

/** The event of a list that a call finishes. It waits in the list until it is delivered. */
export interface ListEnd {
  /** Unix milliseconds. It is due at once. */
  at: number;
  /** What was delivered: a text that only the service reads. */
  state: string;
}

/** An event that this process delivers now. */
export interface TakenEnd extends ListEnd, Pick<VerificationList, "account" | "total"> {
  /** ID of the list. */
  list: string;
  /** When it is due again, unless it is settled. */
  leaseUntilMs: number;
}

/** What became of an event. */
export interface SettledEnd {
  state: string;
  /** When it is due again; `null`: it is over. */
  dueMs: number | null;
  /** Whether a receiver never gets it. */
  isDead: boolean;
}

/** Events of lists. */
export interface ListEnds {
  /** Those that wait. */
  waiting: number;
  /** When the oldest of these happened, in Unix milliseconds; `null`: none waits. */
  oldestAt: number | null;
  /** Lists whose event was given up for a receiver. */
  dead: number;
}

/** Names a row. */
export interface VerificationPlace {
  /** ID of its list. */
  list: string;
  /** From 0, in the order of the list. */
  position: number;
}

/** The result of a row. */
export interface FinishedRow extends VerificationPlace {
  result: string;
  /** Whether the row is also erased, as {@link VerificationQueue.erase} does. @default false */
  isErased?: boolean;
}

/** A row that this process verifies now. */
export interface TakenVerification extends VerificationPlace {
  email: string;
  account: string | null;
  plan: string;
  /** Number of attempts without a final result. */
  attempts: number;
  /** When its list was added, in Unix milliseconds. */
  createdAt: number;
}

/**
 * Addresses that wait for verification, as lists of rows, with their results. Shared by all processes on the
 * same data: each row that is due is taken by one process at a time. Failures reject with
 * `store_unavailable`; so does every call after `close`.
 */
export interface VerificationQueue {
  /**
   * Adds a list with all of its rows, or nothing. Rows without a result are due at once.
   * @param rows at least 1. Read each property by its name: `columns` may be computed.
   * @param maxRows the list is not added if the lists of the account would then have more rows; `null`: no
   * limit.
   * @param size `bytes` that the list counts, and a limit for the account's lists as `maxRows` is; absent: it counts none.
   * @param end The event of the list if all of its rows have a result; absent: it has none.
   * @returns whether the list was added.
   */
  add(
    list: Omit<VerificationList, "total" | "done" | "isStarted">,
    rows: readonly VerificationRow[],
    maxRows: number | null,
    size?: ListSize,
    end?: ListEnd,
  ): Promise<boolean>;
  /**
   * Adds a single row under an ID of its own, before the rows of the account's lists. {@link
   * VerificationQueue.get} does not find it, and finishing deletes it. An existing ID changes nothing.
   */
  addSingle(
    list: Pick<VerificationList, "id" | "account" | "plan" | "createdAt">,
    row: VerificationRow,
  ): Promise<void>;
  /** The list with this ID; `null` if there is none. */
  get(id: string): Promise<VerificationList | null>;
  /** Rows in the order of the list, with their results. @param page `limit` from 1 to 1000. */
  rows(id: string, page: { offset: number; limit: number }): Promise<VerificationRow[]>;
  /**
   * Takes rows that are due, at most `limit`. Each account with due rows gets an equal share; those that get none
   * are first next time. The rows of a list come in random order, which spreads the load on mail servers. A taken
   * row is due again after `leaseMs`, unless it is finished or postponed.
   * @param limit an integer of at least 1.
   * @returns the rows, and when the next row is due: `null` if none waits, and a time that may have passed if
   * rows are left.
   */
  take(
    limit: number,
    leaseMs: number,
    nowMs: number,
  ): Promise<{ rows: TakenVerification[]; nextDueMs: number | null }>;
  /**
   * Stores results. A row that has a result keeps it.
   * @param end The event of each list that the call finishes, stored with its last result; absent: they have none.
   * @returns the number of rows that had none.
   */
  finish(results: readonly FinishedRow[], end?: ListEnd): Promise<number>;
  /** Makes an unfinished row due at `untilMs`. @param wasAttempt whether it counts as an attempt. */
  postpone(place: VerificationPlace, untilMs: number, wasAttempt: boolean): Promise<void>;
  /**
   * Erases the rows of an address with its subaddresses, or of a domain with its subdomains: email and columns
   * become empty, and the result `result`. No deleted byte stays in files that the queue writes itself.
   * @param subject a normalised address without tag, or a domain.
   * @param end As with {@link VerificationQueue.finish}.
   * @returns the number of erased rows.
   */
  erase(subject: string, result: string, end?: ListEnd): Promise<number>;
  /** Takes events that are due, at most `limit`, the longest due first. Each is due again after `leaseMs`, unless it is settled. */
  takeEnds(limit: number, leaseMs: number, nowMs: number): Promise<TakenEnd[]>;
  /** Stores what became of an event. Changes nothing if it was taken again since. */
  settleEnd(taken: Pick<TakenEnd, "list" | "leaseUntilMs">, settled: SettledEnd): Promise<void>;
  /** Counts the events of all lists. */
  countEnds(): Promise<ListEnds>;
  /** Deletes the lists that were added before this time. @returns the number of deleted lists. */
  removeBefore(createdBeforeMs: number): Promise<number>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}

/**
 * Divides `limit` rows among accounts, the account that was served longest ago first.
 * @param count number of accounts, at most `limit`.
 * @returns the share of each account, and the order of the accounts for the next call, as indexes: those that
 * got a row more are last.
 */
export function sharesOf(limit: number, count: number): { shares: number[]; order: number[] } {
  const [share, more] = [Math.floor(limit / count), limit % count];
  const indexes = Array.from({ length: count }, (_, index) => index);
  return {
    shares: indexes.map((index) => share + (index < more ? 1 : 0)),
    order: [...indexes.slice(more), ...indexes.slice(0, more)],
  };
}
