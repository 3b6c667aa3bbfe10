import type { FieldMapping } from "./contact-fields.ts";
import { type FileLine, type LineReports, MAX_LINE_BYTES, REPLACEMENT } from "./file-line.ts";
import { isRecord, ObjectLines } from "./object-lines.ts";

const NEWLINE = 10;

/** Reads a JSON object from each line, in batches of lines. */
export async function* readNdjson(
  input: AsyncIterable<Uint8Array>,
  mapping: FieldMapping,
  reports: LineReports,
): AsyncGenerator<FileLine[]> {
  const { onBad } = reports;
  const objects = new ObjectLines(mapping, reports);
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
    return objects.line(value, number);
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports a bad line.
    return null;
  }
}
