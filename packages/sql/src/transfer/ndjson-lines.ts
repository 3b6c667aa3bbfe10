import { type BadLine, type FileRow, MAX_LINE_LENGTH, type RowReader } from "./file-line.ts";
import { isRecord } from "./row-fields.ts";
import { textLines } from "./text-lines.ts";

/** Reads a JSON object from each line, whose keys are columns. Empty lines are ignored. */
export const readNdjson: RowReader = async function* (input) {
  let line = 0;

  function read(json: string, isOpen: boolean): FileRow | BadLine {
    const isTooLong = json.length > MAX_LINE_LENGTH;
    const value = isTooLong ? null : parseJson(json);
    if (!isRecord(value)) return { line, reason: isTooLong ? "too_long" : isOpen ? "truncated" : "json" };
    const sources = [value.sources ?? value.evidence ?? []].flat();
    return { line, columns: Object.keys(value), cells: Object.values(value), sources };
  }

  for await (const { lines, isOpen } of textLines(input)) {
    yield lines.flatMap((json) => {
      line++;
      return json.trim() === "" ? [] : [read(json, isOpen)];
    });
  }
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports a bad line.
    return null;
  }
}
