import { unreadable } from "../picture.ts";

const TYPE = "image/svg+xml";
const MAX_DOCTYPE_CHARACTERS = 262_144;
/** Characters that all entity references together may expand to. */
export const MAX_EXPANSION = 1_000_000;
const MAX_NESTING = 32;
/** Pieces of an internal subset. No piece may hold the start of another. */
const PIECE =
  /\s+|%[^\s%;"'<>&]+;|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!ENTITY\s(?:[^"'>]|"[^"]*"|'[^']*')*>|<!(?:ATTLIST|ELEMENT|NOTATION)\s(?:[^"'>]|"[^"]*"|'[^']*')*>/y;
const ENTITY = /^<!ENTITY\s+(%\s+)?([^\s%"'<>&;]+)\s+(?:"([^"]*)"|'([^']*)'|(?:SYSTEM|PUBLIC)\s[\s\S]*)\s*>$/;
const REFERENCE = /&([^\s#&;]+);/g;
/** Entities predefined by XML, whatever a document declares. */
const predefined = new Set(["lt", "gt", "amp", "quot", "apos"]);

/**
 * The entities that a document type declaration declares, by name, with the entities in their values replaced. Values
 * may hold markup and references to characters. External entities are empty, because nothing is loaded. Parameter
 * entities are ignored. Throws `unsupported_media` for entities that hold themselves or expand to too much text.
 *
 * @param doctype the text between `<!DOCTYPE` and its `>`.
 */
export function readEntities(doctype: string): Map<string, string> {
  if (doctype.length > MAX_DOCTYPE_CHARACTERS) throw unreadable(TYPE, "its DOCTYPE is too long");
  const values = new Map<string, string>();
  const subset = internalSubset(doctype);
  for (let at = 0; at < subset.length; ) {
    PIECE.lastIndex = at;
    const piece = PIECE.exec(subset)?.[0];
    if (piece === undefined) throw unreadable(TYPE, "its DOCTYPE cannot be read");
    at += piece.length;
    if (!piece.startsWith("<!ENTITY")) continue;
    const [, parameter, name, doubleQuoted, singleQuoted] = ENTITY.exec(piece) ?? [];
    if (name === undefined) throw unreadable(TYPE, "its DOCTYPE declares an entity without a value");
    // The first declaration of a name wins.
    if (parameter !== undefined || predefined.has(name) || values.has(name)) continue;
    values.set(name, withCharacters(doubleQuoted ?? singleQuoted ?? ""));
  }
  return resolveEntities(values);
}

/** Whether a parser must read the values as a part of the document, because they hold more than characters. */
export function holdMarkup(entities: ReadonlyMap<string, string>): boolean {
  return [...entities.values()].some((value) => /[<&]/.test(value));
}

/** What ends a comment, a CDATA section and an instruction, in which nothing is a reference. */
const ends = new Map([
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
]);

/** The text of a document after its DOCTYPE, with references replaced by what `read` returns for their names. */
export function replaceEntities(text: string, read: (name: string) => string | undefined): string {
  const marks = /<!--|<!\[CDATA\[|<\?|&([^\s#&;<>"']{1,256});/g;
  let replaced = "";
  let copied = 0;
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    const [mark, name] = found;
    const end = ends.get(mark);
    if (end !== undefined) {
      const at = text.indexOf(end, found.index + mark.length);
      if (at < 0) break;
      marks.lastIndex = at;
      continue;
    }
    const value = name === undefined ? undefined : read(name);
    if (value === undefined) continue;
    replaced += text.slice(copied, found.index) + (value.includes("<") ? value : withoutQuotes(value));
    copied = marks.lastIndex;
  }
  return replaced + text.slice(copied);
}

/** In an attribute a value must not end the quotes. */
function withoutQuotes(value: string): string {
  return value.replaceAll('"', "&quot;").replaceAll("'", "&apos;");
}

/** Replaces entities in the values of entities. */
function resolveEntities(values: ReadonlyMap<string, string>): Map<string, string> {
  const resolved = new Map<string, string>();
  let characters = 0;
  const resolve = (name: string, within: readonly string[]): string | undefined => {
    const known = resolved.get(name);
    const value = values.get(name);
    if (known !== undefined || value === undefined) return known;
    if (within.includes(name) || within.length > MAX_NESTING) {
      throw unreadable(TYPE, "its DOCTYPE declares an entity that holds itself");
    }
    const text = value.replace(REFERENCE, (piece, inner: string) => {
      const replacement = resolve(inner, [...within, name]) ?? piece;
      characters += replacement.length;
      if (characters > MAX_EXPANSION) throw unreadable(TYPE, "its entities expand to too much text");
      return replacement;
    });
    resolved.set(name, text);
    return text;
  };
  for (const name of values.keys()) resolve(name, []);
  return resolved;
}

/** The internal subset in brackets. External subsets are ignored. */
function internalSubset(doctype: string): string {
  const found = /^(?:[^"'[\]]|"[^"]*"|'[^']*')*\[([\s\S]*)\]\s*$/.exec(doctype);
  return found?.[1] ?? "";
}

/** The value with characters instead of references to them. */
function withCharacters(value: string): string {
  return value.replace(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (reference, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return isXmlCharacter(code) ? String.fromCodePoint(code) : reference;
  });
}

/** Whether XML allows a code point. Source: XML 1.0, section 2.2. */
export function isXmlCharacter(code: number): boolean {
  return (
    code === 0x9 ||
    code === 0xa ||
    code === 0xd ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff)
  );
}
