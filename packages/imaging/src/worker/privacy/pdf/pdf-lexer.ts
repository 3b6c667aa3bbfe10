const REGULAR = 0;
const WHITE_SPACE = 1;
const DELIMITER = 2;

/** The class of each byte. Source: ISO 32000-1, tables 1 and 2. */
const classes = new Uint8Array(256);
for (const byte of Buffer.from("\0\t\n\f\r ")) classes[byte] = WHITE_SPACE;
for (const byte of Buffer.from("()<>[]{}/%")) classes[byte] = DELIMITER;

/** Characters with a meaning in the syntax. */
export const Code = {
  LF: 0x0a,
  CR: 0x0d,
  PERCENT: 0x25,
  PAREN_OPEN: 0x28,
  PAREN_CLOSE: 0x29,
  PLUS: 0x2b,
  MINUS: 0x2d,
  POINT: 0x2e,
  SLASH: 0x2f,
  ZERO: 0x30,
  NINE: 0x39,
  ANGLE_OPEN: 0x3c,
  ANGLE_CLOSE: 0x3e,
  CAPITAL_R: 0x52,
  BRACKET_OPEN: 0x5b,
  BACKSLASH: 0x5c,
  BRACKET_CLOSE: 0x5d,
} as const;

/** The position of the next token, after white space and comments. */
export function skipSpace(bytes: Buffer, position: number): number {
  let next = position;
  while (next < bytes.length) {
    const byte = bytes[next] ?? 0;
    if (byte === Code.PERCENT) next = endOfLine(bytes, next);
    else if (classes[byte] === WHITE_SPACE) next++;
    else return next;
  }
  return bytes.length;
}

/** The end of the name, number or word at `position`. */
export function endOfWord(bytes: Buffer, position: number): number {
  let next = position;
  while (next < bytes.length && classes[bytes[next] ?? 0] === REGULAR) next++;
  return next;
}

/** Whether a byte is part of a name, a number or a word. */
export function isRegular(byte: number | undefined): boolean {
  return byte !== undefined && classes[byte] === REGULAR;
}

export function isSpace(byte: number | undefined): boolean {
  return byte !== undefined && classes[byte] === WHITE_SPACE;
}

/** Whether `word` stands at `position`. */
export function isWordAt(bytes: Buffer, position: number, word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    if (bytes[position + index] !== word.charCodeAt(index)) return false;
  }
  return true;
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= Code.ZERO && byte <= Code.NINE;
}

function endOfLine(bytes: Buffer, position: number): number {
  let next = position;
  while (next < bytes.length && bytes[next] !== Code.CR && bytes[next] !== Code.LF) next++;
  return next;
}
