import { isServiceError } from "@outrigger/core/values";
import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from "saxes";
import { damaged, unreadable } from "../picture.ts";
import { type Attribute, cleanAttribute, XLINK_NAMESPACE } from "./clean-attribute.ts";
import { cleanStylesheet } from "./clean-css.ts";
import { decodeSvgText, isGzip } from "./decode-svg-text.ts";
import { holdMarkup, MAX_EXPANSION, readEntities, replaceEntities } from "./doctype-entities.ts";
import { DrawnElements } from "./drawn-elements.ts";
import { type Frame, frameOf, isSvg } from "./element-frames.ts";
import type { CleanNested } from "./embedded-picture.ts";
import { createSvgWriter, type SvgWriter } from "./svg-writer.ts";

const TYPE = "image/svg+xml";
const MAX_ELEMENTS = 50_000;
/** Below the 256 that libxml2 allows. */
const MAX_DEPTH = 250;
const MAX_ATTRIBUTES = 256;
/** Documents in a picture in a document. */
const MAX_NESTED_DOCUMENTS = 3;
const MAX_MESSAGE_CHARACTERS = 120;

type Parser = SaxesParser<{ xmlns: true }>;

/** Elements that a document with embedded documents may draw. librsvg has the same limit for each document. */
const MAX_DRAWN = 500_000;

/** What a document and all documents in it have used together, so that nesting multiplies nothing. */
interface Budget {
  elements: number;
  /** Characters that entity references expanded to. */
  expanded: number;
  isSpent: boolean;
}

/** Where in a document a parser is. */
interface Reading {
  place: "prolog" | "root" | "end";
  lostText: boolean;
}

/** What the elements of a document are written to and counted in. */
interface Cleaning {
  writer: SvgWriter;
  count: DrawnElements;
  budget: Budget;
  cleanNested: CleanNested;
}

/**
 * Removes everything from an SVG that runs, loads something or reveals its author. Only known SVG elements and
 * attributes remain, with cleaned style sheets. References may only name parts of the document and embedded pictures;
 * an embedded SVG is cleaned in the same way. The result is UTF-8 without declaration, DOCTYPE, comments or prefixes;
 * cleaning it again changes no byte. Throws `unsupported_media`.
 */
export function cleanSvg(bytes: Buffer): Buffer {
  return cleanUpload(bytes).document;
}

/** As {@link cleanSvg}. `lostText`: text that browsers draw was removed, as HTML without a `switch` that offers other elements. */
export function cleanUpload(bytes: Buffer): { document: Buffer; lostText: boolean } {
  return cleanDocument(bytes, { elements: 0, expanded: 0, isSpent: false }, 0);
}

interface CleanDocument {
  document: Buffer;
  drawn: number;
  lostText: boolean;
}

function cleanDocument(bytes: Buffer, budget: Budget, depth: number): CleanDocument {
  // Many files have an empty line before their XML declaration, which XML forbids.
  const text = decodeSvgText(bytes).trimStart();
  const count = new DrawnElements();
  const writer = createSvgWriter();
  const reading: Reading = { place: "prolog", lostText: false };
  const parser = createParser(reading);
  listen(parser, reading, { writer, count, budget, cleanNested: createNestedCleaner(budget, depth, count) });
  let entities: ReadonlyMap<string, string> | undefined;
  parser.on("doctype", (doctype) => {
    entities = readEntities(doctype);
    if (!holdMarkup(entities)) declareEntities(parser, entities, budget);
  });
  // Up to the DOCTYPE or the root tag by tag, because entities with markup are replaced in the text that follows.
  let read = 0;
  while (entities === undefined && reading.place === "prolog" && read < text.length) {
    const end = text.indexOf(">", read) + 1 || text.length;
    parser.write(text.slice(read, end));
    read = end;
  }
  parser.write(withEntities(text.slice(read), entities, budget)).close();
  const drawn = count.hasEmbedded || depth > 0 ? count.total() : 0;
  if (count.hasEmbedded && drawn > MAX_DRAWN) {
    budget.isSpent = true;
    throw unreadable(TYPE, `it draws more than ${MAX_DRAWN} elements`);
  }
  return { document: writer.finish(), drawn, lostText: reading.lostText };
}

/** Cleans the SVGs in the pictures of a document. Those that browsers do not draw are dropped. */
function createNestedCleaner(budget: Budget, depth: number, count: DrawnElements): CleanNested {
  return (bytes) => {
    if (depth >= MAX_NESTED_DOCUMENTS || isGzip(bytes)) return undefined;
    try {
      const { document, drawn } = cleanDocument(bytes, budget, depth + 1);
      count.embed(drawn);
      return document;
    } catch (error) {
      if (budget.isSpent || !isServiceError(error, "unsupported_media")) throw error;
      return undefined;
    }
  };
}

/** Parses every document as XML 1.0, regardless of its declaration. */
function createParser(reading: Reading): Parser {
  const parser: Parser = new SaxesParser({
    xmlns: true,
    position: false,
    defaultXMLVersion: "1.0",
    forceXMLVersion: true,
    resolvePrefix,
  });
  parser.on("error", ({ message }) => {
    // Browsers, too, show a drawing that is followed by something else.
    if (reading.place === "end") return;
    const cause = new Error(message.slice(0, MAX_MESSAGE_CHARACTERS));
    throw damaged(`its XML is broken in line ${parser.line}`, cause);
  });
  return parser;
}

/**
 * The namespace of an undeclared prefix: not SVG's, except for well-known prefixes. An empty string means no prefix.
 */
function resolvePrefix(prefix: string): string | undefined {
  if (prefix === "") return undefined;
  return prefix === "xlink" ? XLINK_NAMESPACE : `urn:undeclared:${prefix}`;
}

function spend(budget: Budget, what: "elements" | "expanded", amount: number): void {
  budget[what] += amount;
  if (budget.elements <= MAX_ELEMENTS && budget.expanded <= MAX_EXPANSION) return;
  budget.isSpent = true;
  throw unreadable(
    TYPE,
    what === "elements"
      ? `it has more than ${MAX_ELEMENTS} elements`
      : "its entities expand to too much text",
  );
}

/** Declares entities so that each reference counts towards the expansion limit. */
function declareEntities(parser: Parser, entities: ReadonlyMap<string, string>, budget: Budget): void {
  for (const [name, value] of entities) {
    Object.defineProperty(parser.ENTITIES, name, {
      get() {
        spend(budget, "expanded", value.length);
        return value;
      },
    });
  }
}

/** The text after a DOCTYPE, with entities replaced if they hold markup. */
function withEntities(
  text: string,
  entities: ReadonlyMap<string, string> | undefined,
  budget: Budget,
): string {
  if (entities === undefined || !holdMarkup(entities)) return text;
  return replaceEntities(text, (name) => {
    const value = entities.get(name);
    spend(budget, "expanded", value?.length ?? 0);
    return value;
  });
}

function listen(parser: Parser, reading: Reading, { writer, count, budget, cleanNested }: Cleaning): void {
  const open: Frame[] = [];
  /** Names of open elements that are dropped: a dropped element and those inside it. */
  const dropped: string[] = [];
  let stylesheet = "";

  parser.on("opentag", (tag) => {
    if (reading.place === "end") return;
    spend(budget, "elements", 1);
    if (open.length + dropped.length >= MAX_DEPTH)
      throw unreadable(TYPE, `it is nested deeper than ${MAX_DEPTH}`);
    const attributes = attributesOf(tag);
    if (reading.place === "prolog" && !(isSvg(tag) && tag.local === "svg")) {
      throw unreadable(TYPE, "its root element is not svg");
    }
    reading.place = "root";
    const frame = dropped.length > 0 ? undefined : frameOf(tag, attributes, open.at(-1));
    if (frame === undefined) {
      // A reader that takes no HTML draws the next element of a switch.
      const isReplaced = dropped.length === 0 && open.at(-1)?.name === "switch";
      dropped.push(isReplaced ? "replaced" : tag.local);
      return;
    }
    const { unknown } = open.at(-1) ?? {};
    open.push(frame);
    if (frame.name === undefined) return;
    if (unknown?.hasDefs === false) {
      unknown.hasDefs = true;
      writer.open("defs", []);
    }
    const kept = cleanAttributes(frame.name, attributes, cleanNested);
    count.open(frame.name, kept);
    writer.open(frame.name, kept);
  });

  parser.on("closetag", () => {
    if (reading.place === "end") return;
    if (dropped.length > 0) {
      dropped.pop();
      return;
    }
    const { name, unknown } = open.pop() ?? {};
    if (name === "style") {
      writer.text(cleanStylesheet(stylesheet));
      stylesheet = "";
    }
    if (name !== undefined) {
      count.close();
      writer.close(name);
    } else if (unknown?.hasDefs === true && open.at(-1)?.unknown !== unknown) {
      writer.close("defs");
    }
    if (open.length === 0) reading.place = "end";
  });

  const readText = (text: string): void => {
    const { name } = open.at(-1) ?? {};
    const [outermost] = dropped;
    if (
      outermost === "foreignObject" &&
      /\S/.test(text) &&
      !/^(?:style|script|title)$/.test(dropped.at(-1) ?? "")
    ) {
      reading.lostText = true;
    }
    // Outside the root and in unknown elements no text is drawn.
    if (outermost !== undefined || name === undefined) return;
    if (name === "style") stylesheet += text;
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

function cleanAttributes(
  element: string,
  attributes: readonly SaxesAttributeNS[],
  cleanNested: CleanNested,
): Attribute[] {
  return attributes.flatMap((attribute) => cleanAttribute(element, attribute, cleanNested) ?? []);
}
