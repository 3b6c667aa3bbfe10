import { unreadable } from "../unreadable.ts";

const TYPE = "image/svg+xml";
const MAX_DOCTYPE_CHARACTERS = 262_144;
const MAX_ENTITIES = 128;
const MAX_VALUE_CHARACTERS = 1024;

/** Pieces of an internal subset. No piece may hold the start of another. */
const PIECE =
  /\s+|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!ENTITY\s(?:[^"'>]|"[^"]*"|'[^']*')*>|<!(?:ATTLIST|ELEMENT|NOTATION)\s(?:[^"'>]|"[^"]*"|'[^']*')*>/y;
const PLAIN_ENTITY = /^<!ENTITY\s+([^\s%"'<>&]+)\s+(?:"([^"]*)"|'([^']*)')\s*>$/;
/** Entities predefined by XML, whatever a document declares. */
const predefined = new Set(["lt", "gt", "amp", "quot", "apos"]);

/**
 * The entities that a document type declaration declares, by name. Illustrator uses them as short names for namespaces.
 * Throws `unsupported_media` for external entities, entities that hold markup or other entities, and too many or too
 * long ones.
 *
 * @param doctype the text between `<!DOCTYPE` and its `>`.
 */
export function readEntities(doctype: string): Map<string, string> {
  if (doctype.length > MAX_DOCTYPE_CHARACTERS) throw unreadable(TYPE, "its DOCTYPE is too long");
  const entities = new Map<string, string>();
  const subset = internalSubset(doctype);
  for (let at = 0; at < subset.length; ) {
    PIECE.lastIndex = at;
    const piece = PIECE.exec(subset)?.[0];
    if (piece === undefined) throw unreadable(TYPE, "its DOCTYPE declares more than plain entities");
    at += piece.length;
    if (!piece.startsWith("<!ENTITY")) continue;
    const [, name, doubleQuoted, singleQuoted] = PLAIN_ENTITY.exec(piece) ?? [];
    const value = doubleQuoted ?? singleQuoted;
    if (name === undefined || value === undefined) {
      throw unreadable(TYPE, "its DOCTYPE declares an entity that is not in the file itself");
    }
    // The first declaration of a name wins.
    if (!predefined.has(name) && !entities.has(name)) entities.set(name, replacementText(value));
    if (entities.size > MAX_ENTITIES) {
      throw unreadable(TYPE, `its DOCTYPE declares more than ${MAX_ENTITIES} entities`);
    }
  }
  return entities;
}

/** The internal subset in brackets. External subsets are ignored. */
function internalSubset(doctype: string): string {
  const found = /^(?:[^"'[\]]|"[^"]*"|'[^']*')*\[([\s\S]*)\]\s*$/.exec(doctype);
  return found?.[1] ?? "";
}

function replacementText(value: string): string {
  if (value.length > MAX_VALUE_CHARACTERS) {
    throw unreadable(TYPE, `its DOCTYPE declares an entity of more than ${MAX_VALUE_CHARACTERS} characters`);
  }
  const text = value.replace(
    /&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi,
    (reference, hex?: string, decimal?: string) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return isXmlCharacter(code) ? String.fromCodePoint(code) : reference;
    },
  );
  if (/[&<%]/.test(text))
    throw unreadable(TYPE, "its DOCTYPE declares an entity that holds markup or another entity");
  return text;
}

/** Source: XML 1.0, section 2.2. */
function isXmlCharacter(code: number): boolean {
  return (
    code === 0x9 ||
    code === 0xa ||
    code === 0xd ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff)
  );
}
