/** The code points that decide where a CSS token ends. Source: CSS Syntax Module Level 3, section 4.2. */
export const codes = {
  tab: 0x09,
  newline: 0x0a,
  space: 0x20,
  doubleQuote: 0x22,
  hash: 0x23,
  percent: 0x25,
  singleQuote: 0x27,
  openingParenthesis: 0x28,
  closingParenthesis: 0x29,
  plus: 0x2b,
  minus: 0x2d,
  fullStop: 0x2e,
  at: 0x40,
  backslash: 0x5c,
  delete: 0x7f,
} as const;

export function isWhitespace(code: number): boolean {
  return code === codes.space || code === codes.newline || code === codes.tab;
}

export function isQuote(code: number): boolean {
  return code === codes.doubleQuote || code === codes.singleQuote;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

export function isSign(code: number): boolean {
  return code === codes.plus || code === codes.minus;
}

/** Letters, the underscore, and all that is not ASCII. */
export function isNameStart(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || code >= 0x80;
}

export function isName(code: number): boolean {
  return isNameStart(code) || isDigit(code) || code === codes.minus;
}

/** Whether an unquoted address may hold the code point unescaped. */
export function isInUrl(code: number): boolean {
  const isReserved =
    isQuote(code) ||
    code === codes.openingParenthesis ||
    code === codes.closingParenthesis ||
    code === codes.backslash ||
    code === codes.delete;
  return code > codes.space && !isReserved;
}
