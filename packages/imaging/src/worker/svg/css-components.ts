import type { CssScanner, CssTokenKind } from "./css-scanner.ts";

/** The grammar of one place in a style sheet. Addresses may only name a part of the document. */
export interface CssGrammar {
  /** Allowed single characters, in addition to punctuation. */
  delimiters: string;
  /** Allowed punctuation, in addition to commas and brackets. */
  punctuation: readonly CssTokenKind[];
  /** Names of allowed functions, in lower case, in addition to `url`. */
  functions: ReadonlySet<string>;
  /** Whether names may be written with escapes. */
  escapedNames: boolean;
}

/** Component values, and where they end. */
interface CssComponents {
  /** The values as written, with empty comments and single spaces. Use it only if `isSafe`. */
  text: string;
  /** Whether every value was understood and is allowed. */
  isSafe: boolean;
  /** The token after the values; `block` for a block in braces. */
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
 * Characters that strings and escaped names must not hold. A parser that splits the text differently could find an
 * address, an at-rule or markup there.
 */
const unsafeInText = /[(@<]/;
/** An unquoted address of a part of the document. */
const urlOfPart = /^url\(\s*#[^\\<>@{};]+\)$/i;

/** Reads from the scanner's current token to one of `stops` outside all brackets, or to the end. */
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
      // Two tokens separated by a comment must not become one.
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

/** Whether a single token is understood and allowed in its place. */
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
      // Browsers disagree about where some names end, so one of them could read a function here.
      return !namedTokens.has(previous);
    default:
      return false;
  }
}

function isQuotedUrl({ kind, token }: CssScanner): boolean {
  return kind === "function" && token.toLowerCase() === "url(";
}

/** Checks the tokens of `url("#part")`: after the function a string, then the parenthesis. */
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
