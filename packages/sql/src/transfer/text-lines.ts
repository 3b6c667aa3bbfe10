import { MAX_LINE_LENGTH } from "./file-line.ts";

/** Lines in batches. */
export interface TextLines {
  lines: string[];
  /** Whether the last line has no line break: the file may be cut. */
  isOpen: boolean;
}

/** The lines of a text, those that are too long cut to one character more than {@link MAX_LINE_LENGTH}. */
export async function* textLines(input: AsyncIterable<string>): AsyncGenerator<TextLines> {
  let rest = "";
  for await (const text of input) {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = (lines.pop() ?? "").slice(0, MAX_LINE_LENGTH + 1);
    yield { lines, isOpen: false };
  }
  if (rest !== "") yield { lines: [rest.replace(/\r$/, "")], isOpen: true };
}
