import type { FieldMapping } from "./contact-fields.ts";
import { type FileLine, type LineReports, MAX_LINE_LENGTH } from "./file-line.ts";
import { isRecord, ObjectLines } from "./object-lines.ts";
import { textLines } from "./text-lines.ts";

/** Reads a JSON object from each line, in batches of lines. */
export async function* readNdjson(
  input: AsyncIterable<string>,
  mapping: FieldMapping,
  reports: LineReports,
): AsyncGenerator<FileLine[]> {
  const objects = new ObjectLines(mapping, reports);
  let number = 0;

  /** @returns the line; `null` if it is empty or bad. */
  function read(json: string, isOpen: boolean): FileLine | null {
    number++;
    if (json.trim() === "") return null;
    const isTooLong = json.length > MAX_LINE_LENGTH;
    const value = isTooLong ? null : parseJson(json);
    if (isRecord(value)) return objects.line(value, number);
    reports.onBad({ line: number, reason: isTooLong ? "too_long" : isOpen ? "truncated" : "json" });
    return null;
  }

  for await (const { lines, isOpen } of textLines(input)) {
    const found = lines.map((line) => read(line, isOpen)).filter((line) => line !== null);
    if (found.length > 0) yield found;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports a bad line.
    return null;
  }
}
