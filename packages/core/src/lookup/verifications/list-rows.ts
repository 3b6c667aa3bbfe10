import type { VerificationRow } from "../../contracts/verification-queue.ts";
import { mainAddress } from "../address/parse-address.ts";
import { pastedAddress } from "../address/parse-mailboxes.ts";
import { LookupProblem } from "../lookup-problem.ts";

/** Maximum number of rows of a list. */
export const MAX_ROWS = 100_000;
/** Maximum bytes of one row, in UTF-8. */
export const MAX_ROW_BYTES = 4096;
const MAX_ADDRESS_CHARACTERS = 320;
/** Memory of a row besides its texts, measured. */
const ROW_BYTES = 160;

/** The rows of a list to be verified. */
export interface ReadList {
  /** Names of the columns; `null` for a list of addresses only. */
  header: readonly string[] | null;
  rows: readonly VerificationRow[];
  /** Memory that the rows use at most. */
  bytes: number;
}

/** Collects the rows of a list while it is read. Its methods throw `wrong_params` beyond a bound. */
export class ListRows implements ReadList {
  header: readonly string[] | null = null;
  rows: VerificationRow[] = [];
  bytes = 0;
  readonly #maxRows: number;

  constructor(maxRows = MAX_ROWS) {
    this.#maxRows = maxRows;
  }

  /**
   * @param email The address as written, without blanks around it.
   * @param cells The line of a table; `null` without a table.
   * @param place Names the row in errors.
   */
  add(email: string, cells: readonly string[] | null, place: string): void {
    if (this.rows.length >= this.#maxRows)
      throw wrong(`${place}: a list has at most ${this.#maxRows} addresses`);
    if (email.length > MAX_ADDRESS_CHARACTERS) {
      throw wrong(`${place}: an address has at most ${MAX_ADDRESS_CHARACTERS} characters`);
    }
    const address = pastedAddress(email);
    const main = address === null ? null : mainAddress(address.address);
    // Equal texts share their memory.
    const subject = main === email ? email : main;
    const joined = cells === null ? null : cells.join(SEPARATOR);
    this.rows.push(
      joined === null
        ? { email, subject, columns: null, result: null }
        : new TableRow(email, subject, joined),
    );
    const subjectBytes = subject === null || subject === email ? 0 : subject.length;
    this.bytes += ROW_BYTES + 2 * (email.length + (joined?.length ?? 0)) + subjectBytes;
  }

  /** @throws LookupProblem `wrong_params` for a list without rows. */
  requireRows(): this {
    if (this.rows.length === 0) throw wrong("The list has no addresses");
    return this;
  }
}

/** Stands between the cells of a row: no cell has it, because {@link storable} removes it. */
const SEPARATOR = "\0";

/** A row of a table. Its cells stay one text until they are read: as texts of their own they take many times the memory. */
class TableRow implements VerificationRow {
  readonly email: string;
  readonly subject: string | null;
  readonly result = null;
  readonly #cells: string;

  constructor(email: string, subject: string | null, cells: string) {
    this.email = email;
    this.subject = subject;
    this.#cells = cells;
  }

  get columns(): readonly string[] {
    return this.#cells.split(SEPARATOR);
  }
}

/** Without characters that no database stores: NUL and lone surrogates. */
export function storable(text: string): string {
  return text.replaceAll("\0", "").replaceAll(LONE_SURROGATE, "\uFFFD");
}

const LONE_SURROGATE = /\p{Surrogate}/gu;

export function wrong(message: string): LookupProblem {
  return new LookupProblem("wrong_params", message);
}

/** Text that arrives in pieces, as parsers read it. */
export class TextInput {
  /** Whether all of the text has arrived. */
  isComplete = false;
  /** Position in `text`. */
  at = 0;
  /** What has arrived and was not consumed by the last `add`. */
  text = "";

  add(piece: string): void {
    this.text = this.text.slice(this.at) + piece;
    this.at = 0;
  }

  get left(): number {
    return this.text.length - this.at;
  }

  /** Consumes what a sticky expression matches. `null`: it does not match, or might match more once more text has arrived. */
  match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.text);
    const isOpen = sticky.lastIndex === this.text.length && !this.isComplete;
    if (found === null || isOpen) return null;
    this.at = sticky.lastIndex;
    return found;
  }
}

/**
 * Parses a text that arrives in pieces. Yields `false` when it needs more text, and `true` where the caller may pause. Throws
 * `wrong_params` for what is malformed or beyond a bound.
 */
export type ListParser = Generator<boolean, void>;
