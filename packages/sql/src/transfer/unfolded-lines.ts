import { textLines } from "./text-lines.ts";

/** A line with its continuations. */
export interface TextLine {
  text: string;
  /** Number of its first line, from 1. */
  line: number;
}

/** Longer values are pictures and keys: the line is left out. */
const MAX_VALUE_LENGTH = 16_384;
/** A value of vCard 2.1 whose line ends with `=` continues in the next one. */
const SOFT_BREAK = /^[^:]*;(?:ENCODING=)?QUOTED-PRINTABLE[^:]*:.*=$/is;

/**
 * Reads unfolded lines of vCards in batches (RFC 6350 §3.2): a line that starts with a space or a tab continues the one before,
 * unless it is blank.
 */
export async function* unfoldedLines(input: AsyncIterable<string>): AsyncGenerator<TextLine[]> {
  let open: TextLine | null = null;
  let number = 0;

  /** @returns the line before, if this one does not continue it. */
  function add(text: string): TextLine | null {
    number++;
    const isFolded = open !== null && /^[ \t]+\S/.test(text);
    if (open !== null && (isFolded || (open.text.endsWith("=") && SOFT_BREAK.test(open.text)))) {
      const kept = isFolded ? open.text : open.text.slice(0, -1);
      // The rest of a line that is too long is dropped.
      if (open.text.length <= MAX_VALUE_LENGTH) open.text = kept + (isFolded ? text.slice(1) : text);
      return null;
    }
    const full = open;
    open = { text, line: number };
    return full !== null && full.text.length <= MAX_VALUE_LENGTH ? full : null;
  }

  for await (const { lines } of textLines(input)) yield lines.map(add).filter((line) => line !== null);
  yield [add("")].filter((line) => line !== null);
}
