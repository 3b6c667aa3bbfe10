import type { CssScanner, CssTokenKind } from "./css-scanner.ts";
import { isXmlCharacter } from "./doctype-entities.ts";

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
/** What addresses must not hold either. They can have it as an escape. */
const unsafeInUrl = /[^\w !#$%&*+,./:=?[\]^`|~\u0080-\uffff-]/g;
/** The parts of an address: unquoted, or the string of a quoted one. */
const URL_TOKEN = /^(url\(\s*|["'])#([\s\S]+?)(\s*\)|["'])$/i;
const CSS_ESCAPE = /\\(?:([\da-f]{1,6})[ \n\t]?|\n|([\s\S]))/gi;

/** An address of a part of the document with escapes of URLs, instead of those of CSS; `undefined` for any other. */
function cleanUrl(token: string): string | undefined {
  const [, opening, part, closing] = URL_TOKEN.exec(token.replace(CSS_ESCAPE, unescapeCss)) ?? [];
  if (part === undefined) return undefined;
  const encoded = part.replace(unsafeInUrl, encodeCharacter);
  return `${opening}#${opening?.startsWith("u") ? encoded.replaceAll(" ", "%20") : encoded}${closing}`;
}

function unescapeCss(_: string, digits?: string, character?: string): string {
  if (digits === undefined) return character ?? "";
  const code = Number.parseInt(digits, 16);
  return isXmlCharacter(code) ? String.fromCodePoint(code) : "\ufffd";
}

function encodeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

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
    const isUrl = kind === "url" || (kind === "string" && quotedUrl.awaitsString);
    const written = isUrl ? cleanUrl(scanner.token) : scanner.token;
    isSafe &&= quotedUrl.accepts(scanner) && (isUrl || isSafeToken(scanner, grammar, previous));
    isSafe &&= written !== undefined;
    const closer = closers.get(kind);
    if (closer !== undefined) nesting.push(closer);
    else if (kind === nesting.at(-1)) nesting.pop();
    else if (kind === ")" || kind === "]" || kind === "}") isSafe = false;
    if (nesting.length > MAX_NESTING) {
      scanner.end = scanner.text.length;
      isSafe = false;
    }
    if (isSafe) text += `${text === "" ? "" : gap}${written}`;
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

  get awaitsString(): boolean {
    return this.#awaited === "string";
  }

  accepts(scanner: CssScanner): boolean {
    const awaited = this.#awaited;
    this.#awaited = awaited === "string" ? ")" : isQuotedUrl(scanner) ? "string" : "function";
    return awaited === "function" || scanner.kind === awaited;
  }
}
