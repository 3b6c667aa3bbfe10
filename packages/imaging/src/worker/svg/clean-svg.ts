import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from "saxes";
import { unreadable } from "../unreadable.ts";
import { allowedElements, textElements } from "./allow-list.ts";
import { type Attribute, cleanAttribute, isUnsafeAnimation, XLINK_NAMESPACE } from "./clean-attribute.ts";
import { cleanStylesheet } from "./clean-css.ts";
import { decodeSvgText } from "./decode-svg-text.ts";
import { readEntities } from "./doctype-entities.ts";
import { createSvgWriter, SVG_NAMESPACE, type SvgWriter } from "./svg-writer.ts";

const TYPE = "image/svg+xml";
const MAX_ELEMENTS = 50_000;
/** Below the 256 that libxml2 allows. */
const MAX_DEPTH = 250;
const MAX_ATTRIBUTES = 256;
/** Characters that all entity references together may expand to. */
const MAX_EXPANSION = 1_000_000;
const MAX_MESSAGE_CHARACTERS = 120;

type Parser = SaxesParser<{ xmlns: true }>;

/**
 * Removes everything from an SVG that runs, loads something or reveals its author. Only known SVG elements and
 * attributes remain, with cleaned style sheets. References may only name parts of the document and embedded rasters.
 * The result is UTF-8 without declaration, DOCTYPE, comments or prefixes; cleaning it again changes no byte. Throws
 * `unsupported_media`.
 */
export function cleanSvg(bytes: Buffer): Buffer {
  // Many files have an empty line before their XML declaration, which XML forbids.
  const text = decodeSvgText(bytes).trimStart();
  const writer = createSvgWriter();
  const parser = createParser();
  listen(parser, writer);
  parser.write(text).close();
  return writer.finish();
}

/** Parses every document as XML 1.0, regardless of its declaration. */
function createParser(): Parser {
  const parser: Parser = new SaxesParser({
    xmlns: true,
    position: false,
    defaultXMLVersion: "1.0",
    forceXMLVersion: true,
    resolvePrefix,
  });
  parser.on("error", ({ message }) => {
    const clause = message.slice(0, MAX_MESSAGE_CHARACTERS).replace(/[.\s]+$/, "");
    throw unreadable(TYPE, `its XML is broken: line ${parser.line}: ${clause}`);
  });
  parser.on("doctype", (doctype) => declareEntities(parser, readEntities(doctype)));
  return parser;
}

/**
 * The namespace of an undeclared prefix: not SVG's, except for well-known prefixes. An empty string means no prefix.
 */
function resolvePrefix(prefix: string): string | undefined {
  if (prefix === "") return undefined;
  return prefix === "xlink" ? XLINK_NAMESPACE : `urn:undeclared:${prefix}`;
}

/** Declares entities so that each reference counts towards the expansion limit. */
function declareEntities(parser: Parser, entities: ReadonlyMap<string, string>): void {
  let expanded = 0;
  for (const [name, value] of entities) {
    Object.defineProperty(parser.ENTITIES, name, {
      get() {
        expanded += value.length;
        if (expanded > MAX_EXPANSION) throw unreadable(TYPE, "its entities expand to too much text");
        return value;
      },
    });
  }
}

function listen(parser: Parser, writer: SvgWriter): void {
  let elements = 0;
  /** Local names of the open elements that are kept. */
  const open: string[] = [];
  /** Number of open elements that are dropped: a dropped element and those inside it. */
  let dropped = 0;
  let stylesheet = "";

  parser.on("opentag", (tag) => {
    elements++;
    if (elements > MAX_ELEMENTS) throw unreadable(TYPE, `it has more than ${MAX_ELEMENTS} elements`);
    if (open.length + dropped >= MAX_DEPTH) throw unreadable(TYPE, `it is nested deeper than ${MAX_DEPTH}`);
    const attributes = attributesOf(tag);
    if (elements === 1 && !(isSvg(tag) && tag.local === "svg")) {
      throw unreadable(TYPE, "its root element is not svg");
    }
    if (dropped > 0 || textElements.has(open.at(-1) ?? "") || !isAllowed(tag, attributes)) {
      dropped++;
      return;
    }
    open.push(tag.local);
    writer.open(tag.local, cleanAttributes(tag.local, attributes));
  });

  parser.on("closetag", () => {
    if (dropped > 0) {
      dropped--;
      return;
    }
    const name = open.pop() ?? "";
    if (name === "style") {
      writer.text(cleanStylesheet(stylesheet));
      stylesheet = "";
    }
    writer.close(name);
  });

  const readText = (text: string): void => {
    // Outside the root there is only whitespace.
    if (dropped > 0 || open.length === 0) return;
    if (open.at(-1) === "style") stylesheet += text;
    else writer.text(text);
  };
  parser.on("text", readText);
  parser.on("cdata", readText);
}

function attributesOf(tag: SaxesTagNS): SaxesAttributeNS[] {
  const attributes = Object.values(tag.attributes);
  if (attributes.length > MAX_ATTRIBUTES) {
    throw unreadable(TYPE, `it has an element of more than ${MAX_ATTRIBUTES} attributes`);
  }
  return attributes;
}

/** Whether an element is SVG. Without any namespace it counts as SVG, as in librsvg. */
function isSvg(tag: SaxesTagNS): boolean {
  return tag.uri === SVG_NAMESPACE || tag.uri === "";
}

function isAllowed(tag: SaxesTagNS, attributes: readonly SaxesAttributeNS[]): boolean {
  return isSvg(tag) && allowedElements.has(tag.local) && !isUnsafeAnimation(tag.local, attributes);
}

function cleanAttributes(element: string, attributes: readonly SaxesAttributeNS[]): Attribute[] {
  const kept: Attribute[] = [];
  for (const attribute of attributes) {
    const clean = cleanAttribute(element, attribute);
    if (clean !== undefined) kept.push(clean);
  }
  return kept;
}
