import { type Kind, labelKind } from "./labels.ts";

/** More columns or spans are no table of people. */
const MAX_COLUMNS = 100;

/** The headings of a table's columns, also of cells that span several columns or rows. */
export class TableHeadings {
  readonly #columns: (Kind | null)[] = [];
  /** Rows that a cell above still covers, by column. */
  readonly #covered: number[] = [];
  #row: { column: number; width: number; isHeading: boolean; text: string }[] = [];
  #column = 0;
  #rows = 0;

  beginRow(): void {
    this.#row = [];
    this.#column = 0;
  }

  /** @returns The kind that the heading of its column announces; `null` without one. */
  beginCell(attributes: ReadonlyMap<string, string>, isHeading: boolean): Kind | null {
    while ((this.#covered[this.#column] ?? 0) > 0) this.#cover(this.#column++, -1);
    const [columns, rows] = ["colspan", "rowspan"].map((name) => Number(attributes.get(name)) || 1);
    const width = Math.min(MAX_COLUMNS, Math.max(1, columns ?? 1));
    const column = this.#column;
    this.#row.push({ column, width, isHeading, text: "" });
    for (let at = column; at < Math.min(MAX_COLUMNS, column + width); at++)
      this.#covered[at] = Math.max(0, (rows ?? 1) - 1);
    this.#column = Math.min(MAX_COLUMNS, column + width);
    return this.#columns[column] ?? null;
  }

  endCell(pieces: readonly { text: string }[]): void {
    const cell = this.#row.at(-1);
    if (cell !== undefined)
      cell.text = pieces
        .map(({ text }) => text)
        .join(" ")
        .trim();
  }

  /** A row of headings, or the first row if its texts are labels, names the columns. */
  endRow(): void {
    for (let at = this.#column; at < this.#covered.length; at++) this.#cover(at, -1);
    this.#rows += 1;
    // `Name / E-Mail`
    const kinds = this.#row.map(({ text }) => labelKind(text) ?? labelKind(text.replace(/[/,&|+].*/s, "")));
    const known = kinds.filter((kind) => kind !== null).length;
    const areHeadings = this.#row.every(({ isHeading }) => isHeading);
    const areLabels = this.#rows === 1 && known >= Math.max(2, this.#row.length - 1);
    if (this.#row.length < 2 || known === 0 || (!areHeadings && !areLabels)) return;
    // A heading of an unknown language may be that of the names.
    const unknown =
      kinds.some((kind) => kind === "name" || kind === "lastName") && kinds.includes("position")
        ? "other"
        : null;
    for (const [index, { column, width }] of this.#row.entries())
      for (let at = column; at < Math.min(MAX_COLUMNS, column + width); at++)
        this.#columns[at] = kinds[index] ?? unknown;
  }

  #cover(column: number, change: number): void {
    this.#covered[column] = Math.max(0, (this.#covered[column] ?? 0) + change);
  }
}
