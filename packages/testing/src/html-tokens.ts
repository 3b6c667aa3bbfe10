/** A start tag, with the decoded values of its attributes by lower-case name. */
export interface StartTag {
  kind: "start";
  name: string;
  attributes: ReadonlyMap<string, string>;
}

export interface EndTag {
  kind: "end";
  name: string;
}

/** Text between tags, decoded; in `style` and `script` unchanged. */
export interface Text {
  kind: "text";
  text: string;
}

export type HtmlToken = StartTag | EndTag | Text;

const RAW_TEXT = new Set(["style", "script"]);
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

/**
 * Splits HTML like a browser's tokenizer (WHATWG HTML §13.2.5), as far as the pages of a service need it. A
 * tag or attribute in its result is one in a browser. Comments and the doctype are omitted.
 */
export function htmlTokens(html: string): HtmlToken[] {
  const tokens: HtmlToken[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.slice(at).search(/<[a-z/!?]/i);
    const next = open === -1 ? html.length : at + open;
    if (next > at) tokens.push({ kind: "text", text: decoded(html.slice(at, next)) });
    if (next === html.length) break;
    at = next;
    if (html.startsWith("<!--", at)) {
      at = after(html, "-->", at);
    } else if (/^<(?:[!?]|\/[^a-z])/i.test(html.slice(at, at + 3))) {
      at = after(html, ">", at);
    } else if (html[at + 1] === "/") {
      const name = /^[^\s/>]+/.exec(html.slice(at + 2))?.[0] ?? "";
      tokens.push({ kind: "end", name: name.toLowerCase() });
      at = after(html, ">", at);
    } else {
      const tag = startTag(html, at);
      tokens.push(tag.token);
      at = tag.end;
      if (RAW_TEXT.has(tag.token.name)) {
        const close = html.toLowerCase().indexOf(`</${tag.token.name}`, at);
        const end = close === -1 ? html.length : close;
        tokens.push({ kind: "text", text: html.slice(at, end) });
        at = end;
      }
    }
  }
  return tokens;
}

/** The start tags of one element name. */
export function startTags(tokens: readonly HtmlToken[], name: string): StartTag[] {
  return tokens.filter((token): token is StartTag => token.kind === "start" && token.name === name);
}

/** The values of one attribute in all elements of one name. */
export function valuesOf(
  tokens: readonly HtmlToken[],
  element: string,
  attribute: string,
): (string | undefined)[] {
  return startTags(tokens, element).map(({ attributes }) => attributes.get(attribute));
}

function startTag(html: string, from: number): { token: StartTag; end: number } {
  const attributes = new Map<string, string>();
  const name = /^[^\s/>]+/.exec(html.slice(from + 1))?.[0] ?? "";
  let at = from + 1 + name.length;
  const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y;
  for (;;) {
    attribute.lastIndex = at;
    const found = attribute.exec(html);
    if (found === null) break;
    at = attribute.lastIndex;
    const key = (found[1] ?? "").toLowerCase();
    // A browser keeps the first of repeated attributes.
    if (!attributes.has(key)) attributes.set(key, decoded(found[2] ?? found[3] ?? found[4] ?? ""));
  }
  return { token: { kind: "start", name: name.toLowerCase(), attributes }, end: after(html, ">", at) };
}

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at === -1 ? html.length : at + mark.length;
}

function decoded(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return NAMED[name.toLowerCase()] ?? whole;
  });
}
