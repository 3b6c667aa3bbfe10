import {
  type ContactField,
  type FieldMapping,
  type FieldPlan,
  type FieldTexts,
  planFields,
  takeFields,
} from "./contact-fields.ts";
import { type FileLine, type LineReports, MAX_LINE_BYTES, REPLACEMENT } from "./file-line.ts";

const NEWLINE = 10;
const MAX_PLANS = 100;

/** Reads a JSON object from each line, in batches of lines. */
export async function* readNdjson(
  input: AsyncIterable<Uint8Array>,
  mapping: FieldMapping,
  { onBad, onUnused }: LineReports,
): AsyncGenerator<FileLine[]> {
  const plans = { line: new Map<string, FieldPlan>(), source: new Map<string, FieldPlan>() };
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  let number = 0;

  /** @returns the line; `null` if it is empty or bad. */
  function read(bytes: Uint8Array, isWhole: boolean): FileLine | null {
    number++;
    if (bytes.length > MAX_LINE_BYTES) {
      onBad({ line: number, reason: "too_long" });
      return null;
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
    const json = number === 1 ? text.replace(/^\uFEFF/, "") : text;
    if (json.trim() === "") return null;
    if (json.includes(REPLACEMENT)) {
      onBad({ line: number, reason: "encoding" });
      return null;
    }
    const value = parseJson(json);
    if (!isRecord(value)) {
      onBad({ line: number, reason: isWhole ? "json" : "truncated" });
      return null;
    }
    return lineOf(value, number);
  }

  function lineOf(value: Record<string, unknown>, line: number): FileLine {
    const { fields, dropped } = fieldTexts(value, planOf(Object.keys(value), "line"), onUnused);
    const given = value.sources ?? value.evidence ?? [];
    const sources: FieldTexts[] = [];
    for (const source of Array.isArray(given) ? given : [given]) {
      if (isRecord(source)) {
        const page = fieldTexts(source, planOf(Object.keys(source), "source"), () => {});
        sources.push(page.fields);
        dropped.push(...page.dropped);
      } else dropped.push("sourceUri");
    }
    return { line, fields, sources, dropped };
  }

  /** Most lines of a file have the same keys. */
  function planOf(names: readonly string[], of: keyof typeof plans): FieldPlan {
    const key = JSON.stringify(names);
    const known = plans[of].get(key);
    if (known !== undefined) return known;
    const plan = planFields(names, mapping, of === "source");
    if (plans[of].size >= MAX_PLANS) plans[of].clear();
    plans[of].set(key, plan);
    return plan;
  }

  for await (const chunk of input) {
    const lines: FileLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const part = chunk.subarray(start, end);
      const line = read(rest.length === 0 ? part : Buffer.concat([...rest, part]), true);
      if (line !== null) lines.push(line);
      rest = [];
      restBytes = 0;
      start = end + 1;
    }
    // Once a line is too long, its further bytes are dropped.
    if (start < chunk.length && restBytes <= MAX_LINE_BYTES) {
      rest.push(chunk.subarray(start));
      restBytes += chunk.length - start;
    }
    if (lines.length > 0) yield lines;
  }
  const last = rest.length === 0 ? null : read(Buffer.concat(rest), false);
  if (last !== null) yield [last];
}

/** The texts of an object's fields, and the fields whose value is an object. Arrays and empty values are ignored. */
function fieldTexts(
  value: Record<string, unknown>,
  plan: FieldPlan,
  onUnused: (key: string) => void,
): { fields: FieldTexts; dropped: ContactField[] } {
  const [names, items] = [Object.keys(value), Object.values(value)];
  const textAt = (index: number) => (typeof items[index] === "object" ? undefined : String(items[index]));
  const fields = takeFields(plan, textAt, (index) => onUnused(names[index] ?? ""));
  const dropped: ContactField[] = [];
  for (const [field, columns] of plan) {
    const isObject = columns.some(({ index, fits }) => fits === undefined && isRecord(items[index]));
    // A line without an address is bad in any case.
    if (isObject && fields[field] === undefined && field !== "address") dropped.push(field);
  }
  return { fields, dropped };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports a bad line.
    return null;
  }
}
