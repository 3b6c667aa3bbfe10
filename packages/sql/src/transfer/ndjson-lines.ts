import { type ContactField, createFieldFinder, type FieldMapping } from "./contact-fields.ts";
import { type BadLine, type FieldTexts, type FileLine, MAX_LINE_BYTES, REPLACEMENT } from "./file-line.ts";

const NEWLINE = 10;

/** Reads a JSON object from each line, in batches of lines. */
export async function* readNdjson(
  input: AsyncIterable<Uint8Array>,
  mapping: FieldMapping,
  onBad: (line: BadLine) => void,
): AsyncGenerator<FileLine[]> {
  const fieldOf = createFieldFinder(mapping);
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
    return lineOf(value, number, fieldOf, onBad);
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

function lineOf(
  value: Record<string, unknown>,
  line: number,
  fieldOf: (name: string) => ContactField | null,
  onBad: (line: BadLine) => void,
): FileLine | null {
  const given = value.sources ?? value.evidence ?? [];
  const sources = Array.isArray(given)
    ? given.map((source) => textsOf(source, sourceFieldOf(fieldOf)))
    : [null];
  const fields = textsOf(value, fieldOf);
  const bad = [fields, ...sources].find((texts) => texts === null || "bad" in texts);
  if (bad !== undefined) {
    const field = bad !== null && "bad" in bad ? bad.bad : "sourceUri";
    onBad({ line, reason: "value", field });
    return null;
  }
  // `bad` is undefined, so none of them is bad.
  return { line, fields: fields as FieldTexts, sources: sources as FieldTexts[] };
}

/** Within a source, `domain` is the domain of the page. */
function sourceFieldOf(
  fieldOf: (name: string) => ContactField | null,
): (name: string) => ContactField | null {
  return (name) => (name === "domain" ? "sourceDomain" : fieldOf(name));
}

/**
 * @returns `bad`, the field whose value is an object; `null` if `value` is not an object. Arrays and empty
 * values are ignored.
 */
function textsOf(
  value: unknown,
  fieldOf: (name: string) => ContactField | null,
): FieldTexts | { bad: ContactField } | null {
  if (!isRecord(value)) return null;
  const fields: FieldTexts = {};
  for (const [name, item] of Object.entries(value)) {
    if (item === null || item === "" || Array.isArray(item)) continue;
    const field = fieldOf(name);
    if (field === null) continue;
    if (typeof item === "object") return { bad: field };
    fields[field] = String(item);
  }
  return fields;
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
