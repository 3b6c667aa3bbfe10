/**
 * The token names of CSS Syntax. Numbers, percentages and dimensions are all `number`; `end` follows the last token.
 */
export type CssTokenKind =
  | "whitespace"
  | "comment"
  | "string"
  | "bad-string"
  | "url"
  | "bad-url"
  | "function"
  | "ident"
  | "at-keyword"
  | "hash"
  | "number"
  | "comment-delimiter"
  | "delim"
  | ":"
  | ";"
  | ","
  | "{"
  | "}"
  | "["
  | "]"
  | "("
  | ")"
  | "end";

const punctuation = new Map<string, CssTokenKind>(
  ([":", ";", ",", "{", "}", "[", "]", "(", ")"] as const).map((mark) => [mark, mark]),
);

/**
 * Scans the tokens of a style sheet or a part of one, as positions in its text. Escapes are reported, not decoded:
 * `u\72l(` is a function of unknown name.
 *
 * Source: CSS Syntax Module Level 3, section 4.
 */
export class CssScanner {
  /** The text after the specification's newline preprocessing. Positions refer to it. */
  readonly text: string;
  kind: CssTokenKind = "whitespace";
  start = 0;
  end = 0;
  /** Whether the token holds a backslash escape. */
  escaped = false;

  constructor(text: string) {
    this.text = text.replace(/\r\n?|\f/g, "\n").replaceAll("\0", "\ufffd");
  }

  /** Moves to the next token and returns its kind. */
  next(): CssTokenKind {
    this.start = this.end;
    this.escaped = false;
    this.kind = this.#scan();
    return this.kind;
  }

  /** The token as written. */
  get token(): string {
    return this.text.slice(this.start, this.end);
  }

  #scan(): CssTokenKind {
    const { text, start } = this;
    if (start >= text.length) return "end";
    const code = this.#codeAt(start);
    if (isWhitespace(code)) return this.#whitespace();
    if (isQuote(code)) return this.#string(code);
    if (text.startsWith("/*", start)) return this.#comment();
    if (code === codes.hash && (isName(this.#codeAt(start + 1)) || this.#isEscape(start + 1))) {
      this.#name(start + 1);
      return "hash";
    }
    if (this.#startsNumber(start)) return this.#number();
    for (const delimiter of ["<!--", "-->"]) {
      if (text.startsWith(delimiter, start)) {
        this.end = start + delimiter.length;
        return "comment-delimiter";
      }
    }
    if (this.#startsName(start)) return this.#identLike();
    if (code === codes.at && this.#startsName(start + 1)) {
      this.#name(start + 1);
      return "at-keyword";
    }
    this.end = start + 1;
    return punctuation.get(text.charAt(start)) ?? "delim";
  }

  #whitespace(): CssTokenKind {
    this.end = this.#afterWhitespace(this.start);
    return "whitespace";
  }

  #comment(): CssTokenKind {
    const close = this.text.indexOf("*/", this.start + 2);
    this.end = close === -1 ? this.text.length : close + 2;
    return "comment";
  }

  #string(quote: number): CssTokenKind {
    let at = this.start + 1;
    for (;;) {
      const code = this.#codeAt(at);
      if (Number.isNaN(code) || code === codes.newline) {
        this.end = Math.min(at, this.text.length);
        return "bad-string";
      }
      if (code === codes.backslash) this.escaped = true;
      at += code === codes.backslash ? 2 : 1;
      if (code === quote) {
        this.end = at;
        return "string";
      }
    }
  }

  #number(): CssTokenKind {
    const { text } = this;
    let at = this.#afterDigits(this.start + (isSign(this.#codeAt(this.start)) ? 1 : 0));
    if (this.#codeAt(at) === codes.fullStop && isDigit(this.#codeAt(at + 1))) at = this.#afterDigits(at + 1);
    if (/^e[+-]?\d/i.test(text.slice(at, at + 3))) at = this.#afterDigits(at + 2);
    this.end = at;
    if (this.#codeAt(at) === codes.percent) this.end++;
    else if (this.#startsName(at)) this.#name(at);
    return "number";
  }

  #identLike(): CssTokenKind {
    this.#name(this.start);
    if (this.#codeAt(this.end) !== codes.openingParenthesis) return "ident";
    const isUrl = this.token.toLowerCase() === "url";
    this.end++;
    if (!isUrl) return "function";
    const first = this.#codeAt(this.#afterWhitespace(this.end));
    return isQuote(first) ? "function" : this.#url();
  }

  /** An unquoted `url(` up to its closing parenthesis. */
  #url(): CssTokenKind {
    let at = this.#afterWhitespace(this.end);
    for (;;) {
      if (isInUrl(this.#codeAt(at))) at++;
      else if (this.#isEscape(at)) at = this.#afterEscape(at);
      else break;
    }
    const close = this.#afterWhitespace(at);
    if (this.#codeAt(close) === codes.closingParenthesis) {
      this.end = close + 1;
      return "url";
    }
    while (at < this.text.length && this.#codeAt(at) !== codes.closingParenthesis) {
      at += this.#isEscape(at) ? 2 : 1;
    }
    this.end = Math.min(at + 1, this.text.length);
    return "bad-url";
  }

  #name(from: number): void {
    let at = from;
    for (;;) {
      if (isName(this.#codeAt(at))) at++;
      else if (this.#isEscape(at)) at = this.#afterEscape(at);
      else break;
    }
    this.end = at;
  }

  #afterEscape(at: number): number {
    this.escaped = true;
    const hex = /^[\da-f]{1,6}[ \n\t]?/i.exec(this.text.slice(at + 1, at + 8))?.[0];
    return at + 1 + (hex?.length ?? 1);
  }

  #afterWhitespace(from: number): number {
    let at = from;
    while (isWhitespace(this.#codeAt(at))) at++;
    return at;
  }

  #afterDigits(from: number): number {
    let at = from;
    while (isDigit(this.#codeAt(at))) at++;
    return at;
  }

  #isEscape(at: number): boolean {
    return (
      this.#codeAt(at) === codes.backslash &&
      at + 1 < this.text.length &&
      this.#codeAt(at + 1) !== codes.newline
    );
  }

  #startsName(at: number): boolean {
    const first = this.#codeAt(at) === codes.minus ? at + 1 : at;
    const code = this.#codeAt(first);
    return isNameStart(code) || this.#isEscape(first) || (first > at && code === codes.minus);
  }

  #startsNumber(at: number): boolean {
    const first = isSign(this.#codeAt(at)) ? at + 1 : at;
    const code = this.#codeAt(first);
    return isDigit(code) || (code === codes.fullStop && isDigit(this.#codeAt(first + 1)));
  }

  /** The code point; NaN after the end, which fails every comparison. */
  #codeAt(at: number): number {
    return this.text.charCodeAt(at);
  }
}

/** The code points that decide where a CSS token ends. Source: CSS Syntax Module Level 3, section 4.2. */
const codes = {
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

function isWhitespace(code: number): boolean {
  return code === codes.space || code === codes.newline || code === codes.tab;
}

function isQuote(code: number): boolean {
  return code === codes.doubleQuote || code === codes.singleQuote;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isSign(code: number): boolean {
  return code === codes.plus || code === codes.minus;
}

/** Letters, the underscore, and all that is not ASCII. */
function isNameStart(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || code >= 0x80;
}

function isName(code: number): boolean {
  return isNameStart(code) || isDigit(code) || code === codes.minus;
}

/** Whether an unquoted address may hold the code point unescaped. */
function isInUrl(code: number): boolean {
  const isReserved =
    isQuote(code) ||
    code === codes.openingParenthesis ||
    code === codes.closingParenthesis ||
    code === codes.backslash ||
    code === codes.delete;
  return code > codes.space && !isReserved;
}
