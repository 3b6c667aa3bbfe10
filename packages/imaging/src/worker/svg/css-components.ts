import type { CssScanner, CssTokenKind } from "./css-scanner.ts";

/** The grammar of one place of a style sheet. An address, where one may stand, may only name a part of the document. */
export interface CssGrammar {
  /** Single characters besides the punctuation. */
  delimiters: string;
  /** Punctuation besides commas and brackets. */
  punctuation: readonly CssTokenKind[];
  /** Names of functions, in lower case, besides `url`. */
  functions: ReadonlySet<string>;
  /** Whether names may be written with escapes. */
  escapedNames: boolean;
}

/** Component values, read until something else. */
export interface CssComponents {
  /** As they were written, but comments are emptied and whitespace is single spaces. Only of use if `isSafe`. */
  text: string;
  /** Whether every one of them was understood and is allowed. */
  isSafe: boolean;
  /** The token that they ended at; `block` for a block in braces of their own. */
  endedAt: CssTokenKind | "block";
}

const MAX_NESTING = 64;

const closers = new Map<CssTokenKind, CssTokenKind>([
  ["function", ")"],
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
]);
const plainTokens = new Set<CssTokenKind>(["ident", "hash", "number", ",", "[", "]", ")"]);
const namedTokens = new Set<CssTokenKind>(["ident", "hash", "number"]);

/**
 * Characters that no string and no escaped name may hold: with them, a parser that splits the text differently could find
 * an address, an at-rule or markup there.
 */
const unsafeInText = /[(@<]/;
/** The name of a part of the document, as an address without quotes. */
const urlOfPart = /^url\(\s*#[^\\<>@{};]+\)$/i;

/** Reads from the scanner's present token on, to one of `stops` outside of all brackets, or to the end. */
export function readComponents(
  scanner: CssScanner,
  grammar: CssGrammar,
  stops: readonly CssTokenKind[],
): CssComponents {
  const nesting: CssTokenKind[] = [];
  const quotedUrl = new QuotedUrl();
  let text = "";
  let gap = "";
  let previous: CssTokenKind = "whitespace";
  let isSafe = true;
  for (let kind = scanner.kind; ; kind = scanner.next()) {
    if (kind === "end") return { text, isSafe: isSafe && nesting.length === 0, endedAt: "end" };
    if (nesting.length === 0 && stops.includes(kind)) return { text, isSafe, endedAt: kind };
    if (kind === "whitespace" || kind === "comment") {
      // Two tokens that a comment keeps apart must not become one.
      if (kind === "whitespace") gap = " ";
      else if (gap === "") gap = "/**/";
      previous = kind;
      continue;
    }
    isSafe &&= quotedUrl.accepts(scanner) && isSafeToken(scanner, grammar, previous);
    const closer = closers.get(kind);
    if (closer !== undefined) nesting.push(closer);
    else if (kind === nesting.at(-1)) nesting.pop();
    else if (kind === ")" || kind === "]" || kind === "}") isSafe = false;
    if (nesting.length > MAX_NESTING) {
      scanner.end = scanner.text.length;
      isSafe = false;
    }
    if (isSafe) text += (text === "" ? "" : gap) + scanner.token;
    gap = "";
    previous = kind;
    if (kind === "}" && nesting.length === 0) return { text, isSafe: false, endedAt: "block" };
  }
}

/** Whether a token by itself is understood and allowed where it stands. */
function isSafeToken(scanner: CssScanner, grammar: CssGrammar, previous: CssTokenKind): boolean {
  const { kind, token, escaped } = scanner;
  if (kind === "string") return !escaped && !unsafeInText.test(token);
  if (escaped && !(grammar.escapedNames && namedTokens.has(kind) && !/["'/]/.test(token))) return false;
  if (plainTokens.has(kind)) return !unsafeInText.test(token);
  if (grammar.punctuation.includes(kind)) return true;
  switch (kind) {
    case "delim":
      return grammar.delimiters.includes(token);
    case "function":
      return isQuotedUrl(scanner) || grammar.functions.has(token.slice(0, -1).toLowerCase());
    case "url":
      return urlOfPart.test(token);
    case "(":
      // Browsers do not agree about where some names end: for one of them this could be a function.
      return !namedTokens.has(previous);
    default:
      return false;
  }
}

function isQuotedUrl({ kind, token }: CssScanner): boolean {
  return kind === "function" && token.toLowerCase() === "url(";
}

/** Follows the tokens of `url("#part")`: after the function one string, then the parenthesis. */
class QuotedUrl {
  #awaited: "function" | "string" | ")" = "function";

  accepts(scanner: CssScanner): boolean {
    const { kind } = scanner;
    const awaited = this.#awaited;
    this.#awaited = "function";
    if (awaited === "string") {
      this.#awaited = ")";
      return kind === "string" && !scanner.escaped && scanner.token.charAt(1) === "#";
    }
    if (awaited === ")") return kind === ")";
    if (isQuotedUrl(scanner)) this.#awaited = "string";
    return true;
  }
}
