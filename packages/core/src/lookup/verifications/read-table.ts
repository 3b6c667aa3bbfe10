import type { LookupProblem } from "../lookup-problem.ts";
import {
  type ListParser,
  type ListRows,
  MAX_ROW_BYTES,
  MAX_ROWS,
  storable,
  type TextInput,
  wrong,
} from "./list-rows.ts";

const MAX_COLUMNS = 200;
/** A line with its break, which may be two characters. */
const MAX_LINE_BYTES = MAX_ROW_BYTES + 2;
const FIRST_LINE = /\uFEFF?([\r\n]*[^\r\n]*)([\r\n]|$)/y;
const LINE_BREAK = /\r\n?|\n/g;
const PLAIN_LINE = /([^"\r\n]*)(?:\r\n?|\n|$)/y;
const UNSTORABLE = /\0|\p{Surrogate}/u;

/**
 * Reads CSV (RFC 4180) whose first line names the columns, separated by commas, semicolons or tabs. A stray quotation mark is
 * read as text. Lines of empty cells are skipped.
 */
export function* parseTable(input: TextInput, list: ListRows): ListParser {
  const syntax = yield* findSyntax(input);
  let column = -1;
  let blanks = 0;
  for (let line = 1; input.left > 0 || !input.isComplete; ) {
    const start = input.at;
    const place = `in line ${line}${list.header === null ? "" : ` (row ${list.rows.length + 1})`}`;
    const cells = input.match(syntax.blank) === null ? readLine(input, syntax, place) : [];
    if (cells === null) {
      yield false;
      continue;
    }
    const written = input.text.slice(start, input.at);
    if (Buffer.byteLength(written) > MAX_LINE_BYTES) throw malformed(place, TOO_LONG);
    line += written.match(LINE_BREAK)?.length ?? 0;
    if (cells.length > 0 && cells.length !== (list.header ?? cells).length) {
      throw malformed(place, "it has another number of columns than the first line");
    } else if (cells.every((cell) => cell.trim() === "")) {
      if (++blanks > MAX_ROWS) throw wrong(`A list has at most ${MAX_ROWS} lines without text`);
    } else if (list.header === null) {
      column = requireEmailColumn(cells);
      list.header = cells;
    } else {
      // A copy: a part of the text would keep all of it in memory.
      const email = Buffer.from(cells[column] ?? "")
        .toString()
        .trim();
      // The row has the address already.
      cells[column] = "";
      list.add(email, cells, `The list is wrong ${place}`);
    }
    yield true;
  }
}

interface Syntax {
  by: string;
  cell: RegExp;
  /** A line without text. */
  blank: RegExp;
}

/** The separator is a comma, unless the first line has none. */
function* findSyntax(input: TextInput): Generator<boolean, Syntax> {
  for (;;) {
    const [, line, end = ""] = input.match(FIRST_LINE) ?? [];
    if (line !== undefined) {
      input.at -= line.length + end.length;
      const by = [",", ";", "\t"].find((each) => line.includes(each)) ?? ",";
      return {
        by,
        // Quoted text and what follows it, or text; then the end of the cell.
        cell: new RegExp(
          `(?:"([^"]*(?:""[^"]*)*)"(?!")([^${by}\r\n]*)|([^"${by}\r\n][^${by}\r\n]*)?)(${by}|\r\n?|\n|$)`,
          "y",
        ),
        blank: new RegExp(`[ ${by}]{0,${MAX_ROW_BYTES}}(?:\r\n?|\n|$)`, "y"),
      };
    }
    if (input.left > MAX_LINE_BYTES) throw malformed("in line 1", TOO_LONG);
    yield false;
  }
}

/** The cells of the next line; `null` if its end has not arrived. */
function readLine(input: TextInput, { by, cell }: Syntax, place: string): string[] | null {
  const start = input.at;
  const plain = input.match(PLAIN_LINE)?.[1];
  const cells = plain?.split(by, MAX_COLUMNS + 1) ?? [];
  for (let isOpen = plain === undefined; isOpen && cells.length <= MAX_COLUMNS; ) {
    const [all, quoted, stray = "", text = "", end] = input.match(cell) ?? [];
    if (all === undefined) {
      input.at = start;
      if (input.isComplete) throw malformed(place, "a quotation mark is not closed");
      if (input.left > MAX_LINE_BYTES)
        throw malformed(place, `${TOO_LONG}, or a quotation mark is not closed`);
      return null;
    }
    const inner = quoted?.replaceAll('""', '"');
    cells.push(inner === undefined ? text : stray === "" ? inner : `"${inner}"${stray}`);
    isOpen = end === by;
  }
  if (cells.length > MAX_COLUMNS) throw malformed(place, `it has more than ${MAX_COLUMNS} columns`);
  return UNSTORABLE.test(plain ?? cells.join("")) ? cells.map(storable) : cells;
}

/** The index of the column of addresses; -1 if there is none. */
export function emailColumnOf(header: readonly string[]): number {
  const names = header.map((name) => name.trim().toLowerCase());
  for (const form of [/^email$/, /^e?[-_ ]?mail(?:[-_ ]?address)?(?:es|s)?$/, /e-?mail/]) {
    const index = names.findIndex((name) => form.test(name));
    if (index !== -1) return index;
  }
  return -1;
}

function requireEmailColumn(header: readonly string[]): number {
  const column = emailColumnOf(header);
  if (column === -1) throw wrong("The first line must name the columns, one of them email");
  return column;
}

const TOO_LONG = `it is longer than ${MAX_ROW_BYTES} bytes`;

function malformed(place: string, fault: string): LookupProblem {
  return wrong(`The CSV is malformed ${place}: ${fault}`);
}
