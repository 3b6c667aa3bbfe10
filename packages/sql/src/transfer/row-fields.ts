import type { FieldMapping, FieldTexts } from "./contact-fields.ts";
import { type FieldPlan, planFields, takeFields } from "./field-plan.ts";
import type { FileLine, FileRow, LineReports } from "./file-line.ts";

const MAX_PLANS = 100;
/** A text with NUL is not valid in any field. */
const NO_TEXT = "\0";

/** Reads the fields of rows by the names of their columns. */
export class RowFields {
  readonly #mapping: FieldMapping;
  readonly #reports: LineReports;
  /** Most rows of a file have the same columns. */
  readonly #plans = new Map<string, FieldPlan>();
  #last: FieldPlan | undefined;

  constructor(mapping: FieldMapping, reports: LineReports) {
    this.#mapping = mapping;
    this.#reports = reports;
  }

  line({ line, columns, cells, sources = [], plan = this.#plan(columns, false) }: FileRow): FileLine {
    if (plan !== this.#last) this.#reports.onColumns?.(columns, plan);
    this.#last = plan;
    const used: number[] = [];
    const textAt = (index: number) => textOf(cells[index]);
    const fields = takeFields(plan, textAt, used);
    columns.forEach((column, index) => {
      if (used.includes(index) || column.trim() === "") return;
      if (!isRecord(cells[index]) && textAt(index)?.trim()) this.#reports.onUnused(column);
    });
    return { line, fields, sources: sources.map((source) => this.#page(source)) };
  }

  #page(source: unknown): FieldTexts {
    if (!isRecord(source)) return { sourceUri: NO_TEXT };
    const values = Object.values(source);
    return takeFields(this.#plan(Object.keys(source), true), (index) => textOf(values[index]), []);
  }

  #plan(columns: readonly string[], isSource: boolean): FieldPlan {
    const key = JSON.stringify([isSource, columns]);
    const plan = this.#plans.get(key) ?? planFields(columns, this.#mapping, isSource);
    if (this.#plans.size >= MAX_PLANS) this.#plans.clear();
    this.#plans.set(key, plan);
    return plan;
  }
}

/** Lists and empty values have no text. */
function textOf(value: unknown): string | undefined {
  if (typeof value !== "object") return value === undefined ? undefined : String(value);
  return isRecord(value) ? NO_TEXT : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
