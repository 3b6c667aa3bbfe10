import type { ContactField, FieldMapping, FieldTexts } from "./contact-fields.ts";
import { type FieldPlan, planFields, takeFields } from "./field-plan.ts";
import type { FileLine, LineReports } from "./file-line.ts";

const MAX_PLANS = 100;

/** Reads lines from objects, whose keys are the names of columns. */
export class ObjectLines {
  readonly #mapping: FieldMapping;
  readonly #reports: LineReports;
  readonly #plans = { line: new Map<string, FieldPlan>(), source: new Map<string, FieldPlan>() };

  constructor(mapping: FieldMapping, reports: LineReports) {
    this.#mapping = mapping;
    this.#reports = reports;
  }

  line(value: Record<string, unknown>, line: number): FileLine {
    const { fields, dropped, plan } = this.#texts(value, "line");
    const given = value.sources ?? value.evidence ?? [];
    const faults = [...dropped];
    const sources: FieldTexts[] = [];
    for (const source of Array.isArray(given) ? given : [given]) {
      if (isRecord(source)) {
        const page = this.#texts(source, "source");
        sources.push(page.fields);
        faults.push(...page.dropped);
      } else faults.push("sourceUri");
    }
    return { line, fields, sources, dropped: faults, plan };
  }

  /** The texts of an object's fields, and the fields whose value is an object. Arrays and empty values are ignored. */
  #texts(value: Record<string, unknown>, of: "line" | "source"): Omit<FileLine, "line" | "sources"> {
    const [names, items] = [Object.keys(value), Object.values(value)];
    const plan = this.#plan(names, of);
    const textAt = (index: number) => (typeof items[index] === "object" ? undefined : String(items[index]));
    const unused = (index: number) => of === "line" && this.#reports.onUnused(names[index] ?? "");
    const fields = takeFields(plan, textAt, unused);
    for (const index of plan.unknown) if (textAt(index)?.trim()) unused(index);
    const dropped: ContactField[] = [];
    for (const [field, columns] of plan.fields) {
      const isObject = columns.some(({ index, read }) => read === undefined && isRecord(items[index]));
      // A line without an address is bad in any case.
      if (isObject && fields[field] === undefined && field !== "address") dropped.push(field);
    }
    return { fields, dropped, plan };
  }

  /** Most lines of a file have the same keys. */
  #plan(names: readonly string[], of: "line" | "source"): FieldPlan {
    const plans = this.#plans[of];
    const key = JSON.stringify(names);
    const known = plans.get(key);
    if (known !== undefined) return known;
    const plan = planFields(names, this.#mapping, of === "source");
    if (of === "line") this.#reports.onColumns?.(names, plan);
    if (plans.size >= MAX_PLANS) plans.clear();
    plans.set(key, plan);
    return plan;
  }
}

/** Further values of a name: the others are left out. */
const MAX_VALUES = 20;

/** An object of values by their names. A second one gets a number, as `mail 2`; empty ones are left out. */
export function numbered(values: Iterable<readonly [name: string, value: string]>): Record<string, string> {
  const counts = new Map<string, number>();
  const object: Record<string, string> = {};
  for (const [name, value] of values) {
    const count = (counts.get(name) ?? 0) + 1;
    if (value === "" || count > MAX_VALUES) continue;
    counts.set(name, count);
    object[count === 1 ? name : `${name} ${count}`] = value;
  }
  return object;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
