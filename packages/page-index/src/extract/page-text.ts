import { parse, type DefaultTreeAdapterTypes as Tree } from "parse5";
import { plainAddresses, recipientsOf } from "./find-addresses.ts";
import { HiddenElements } from "./hidden-elements.ts";
import { inSections } from "./in-sections.ts";
import { attributeKind, type Kind } from "./labels.ts";
import { attributesOf, contentOf, PageHead, resolvedUrl } from "./page-head.ts";
import { TableHeadings } from "./table-headings.ts";

/** An element, or a heading with what follows it. Those around it come before it, those in it directly behind it. */
export interface PageElement {
  /** Index of the element around it; -1 for the first. */
  parent: number;
  /** Index of its last descendant; its own without any. */
  last: number;
  /** Its first piece, and the one behind its last. A piece that goes on around it counts, too. */
  start: number;
  end: number;
  /** Characters of text before it, and up to its end. */
  from: number;
  to: number;
  /** What a label or heading says of its text, and the element that has it. */
  kind: Kind | null;
  owner: number;
  /** 2 within a heading, 1 within emphasised text. */
  rank: number;
  /** Within a link to a page, or a button. */
  isLink: boolean;
  /** Within microdata or a microformat. */
  isItem: boolean;
  /** The only address in it, or that it has several. */
  address: string | true | null;
}

/** A text between two breaks; or an empty one, for the number or the URL of a link. */
export interface Piece {
  /** Its place in the page. */
  index: number;
  /** Index of the innermost element around all of it. */
  element: number;
  text: string;
  line: number;
  phone: string | null;
  url: string | null;
  /** What a label or heading says of it. */
  kind: Kind | null;
  isLabel: boolean;
}

/** An address at a place of the page. */
export interface Occurrence {
  value: string;
  element: number;
  /** The piece behind it. */
  at: number;
  line: number;
  /** Of a recipient: its name in the link, and whether it is one of several or of a copy. */
  name: string | null;
  isAside: boolean;
}

export type PageLink = { url: URL; text: string };

/** As in Chromium. */
const MAX_DEPTH = 512;
const MAX_LINKS = 10_000;
const BLOCKS = new Set(
  (
    "address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table tbody td tfoot " +
    "th thead tr ul"
  ).split(" "),
);
const SKIPPED = new Set(
  "head script style template textarea select svg math iframe object canvas audio video datalist".split(" "),
);
const CODE = new Set("code kbd samp var".split(" "));
const EMPHASIS = new Set("strong b dt th summary caption".split(" "));
const DECLARING = new Set("script meta link base".split(" "));
const INVISIBLE = /[\u00AD\u200B-\u200F\u2060\uFEFF]+/g;
/** Blanks that separate columns in a line. */
const GAP = /[^\S\n]{2,}|[\t\u2000-\u2003]/;

/** The pieces of text of a page, and the elements, addresses, links and declarations in it. */
export class PageText {
  readonly elements: PageElement[] = [];
  readonly pieces: Piece[] = [];
  readonly occurrences: Occurrence[] = [];
  readonly head: PageHead;
  language = "";
  /** Number of characters. */
  length = 0;

  readonly #links: { url: URL; title: string; element: number }[] = [];
  readonly #tables: TableHeadings[] = [];
  readonly #hiding = new HiddenElements();
  /** The piece that is being read, and its element. */
  #text = "";
  #element = 0;
  #line = 0;
  #code = 0;
  #pre = 0;
  /** Whether an element has ended since the last text. */
  #isAfterElement = false;

  constructor(html: string, url: URL) {
    this.head = new PageHead(url);
    this.#walk(parse(html, { scriptingEnabled: false }));
  }

  get links(): PageLink[] {
    return this.#links.map(({ url, title, element }) => {
      const texts = this.piecesOf(element, 20).map(({ text }) => text);
      return { url, text: texts.join(" ").slice(0, 200).trim() || title };
    });
  }

  /** The pieces within an element. */
  piecesOf(index: number, most = Infinity): Piece[] {
    const { start, end, last } = this.elements[index] ?? { start: 0, end: 0, last: 0 };
    return this.pieces
      .slice(start, Math.min(end, start + most))
      .filter(({ element }) => element >= index && element <= last);
  }

  /** Leaves out elements that are nested more deeply than browsers nest them. */
  #walk(document: Tree.Document): void {
    const open = [{ index: -1, tag: "", children: document.childNodes as Tree.ChildNode[], next: 0 }];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const node = top.children[top.next++];
      if (node === undefined) {
        open.pop();
        this.#leave(top.index, top.tag);
      } else if ("tagName" in node) {
        if (open.length > MAX_DEPTH || !this.#enter(node, top.index)) continue;
        const { tagName: tag } = node;
        open.push({ index: this.elements.length - 1, tag, children: inSections(node), next: 0 });
      } else if ("value" in node) {
        this.#write(node.value, top.index);
      }
    }
  }

  /** @returns Whether its content is read. */
  #enter(node: Tree.Element, parent: number): boolean {
    const { tagName: tag } = node;
    const attributes = attributesOf(node);
    if (tag === "html") this.language = attributes.get("lang")?.toLowerCase() ?? "";
    if (tag === "head") for (const child of node.childNodes) if ("tagName" in child) this.#declare(child);
    this.#declare(node);
    if (this.#hiding.hides(attributes)) {
      // An address around hidden text hides from harvesters.
      this.#break();
      return false;
    }
    if (SKIPPED.has(tag)) return false;
    const kind = attributeKind(attributes, this.elements[parent]?.isItem === true);
    if (BLOCKS.has(tag)) this.#break(true);
    else if (tag === "a" || kind !== null) this.#break();
    if (CODE.has(tag)) this.#code += 1;
    if (tag === "pre") this.#pre += 1;
    if (tag === "table") this.#tables.push(new TableHeadings());
    if (tag === "tr") this.#tables.at(-1)?.beginRow();
    const isCell = tag === "td" || tag === "th";
    const cell = isCell ? this.#tables.at(-1)?.beginCell(attributes, tag === "th") : null;
    const index = this.#add(tag, parent, attributes, kind ?? cell ?? null);
    if (tag === "meta" && kind !== null) this.#write(attributes.get("content") ?? "", index);
    if (attributes.size > 0) this.#readLink(tag, attributes, index);
    return true;
  }

  #declare(node: Tree.Element): void {
    const { tagName: tag } = node;
    if (tag === "style") this.#hiding.readStyle(contentOf(node));
    else if (DECLARING.has(tag)) this.head.declare(tag, attributesOf(node), contentOf(node));
  }

  #add(tag: string, parent: number, attributes: ReadonlyMap<string, string>, kind: Kind | null): number {
    const index = this.elements.length;
    const around = this.elements[parent];
    this.elements.push({
      ...{ parent, last: index, start: this.pieces.length, end: 0, from: this.length, to: this.length },
      kind: kind ?? around?.kind ?? null,
      owner: kind === null ? (around?.owner ?? -1) : index,
      rank: Math.max(/^h[1-6]$/.test(tag) ? 2 : EMPHASIS.has(tag) ? 1 : 0, around?.rank ?? 0),
      isLink: around?.isLink === true || tag === "button" || (tag === "a" && attributes.has("href")),
      isItem:
        attributes.has("itemscope") ||
        attributes.has("typeof") ||
        /(?:^|\s)(?:vcard|h-card)(?:\s|$)/.test(attributes.get("class") ?? ""),
      address: null,
    });
    return index;
  }

  #leave(index: number, tag: string): void {
    const element = this.elements[index];
    if (BLOCKS.has(tag)) this.#break(true);
    else if (tag === "a" || element?.owner === index) this.#break();
    this.#isAfterElement = true;
    if (element === undefined) return;
    if (CODE.has(tag)) this.#code -= 1;
    if (tag === "pre") this.#pre -= 1;
    element.end = this.pieces.length + 5; // The last piece may go on, around an address.
    element.last = this.elements.length - 1;
    element.to = this.length;
    const table = this.#tables.at(-1);
    if (tag === "td" || tag === "th") table?.endCell(this.piecesOf(index, 5));
    if (tag === "tr") table?.endRow();
    if (tag === "table") this.#tables.pop();
  }

  #write(value: string, element: number): void {
    const visible = value.replace(INVISIBLE, "");
    const lines = this.#pre > 0 ? visible.split("\n") : [visible.replace(/[ \n\f\r]+|\t\s*\n\s*/g, " ")];
    for (const [index, line] of lines.entries()) {
      if (index > 0) this.#break(true);
      for (const [column, text] of line.split(GAP).entries()) {
        if (column > 0) this.#break();
        this.#append(text.replaceAll("\u00a0", " "), element);
      }
    }
  }

  #append(given: string, element: number): void {
    const text = this.#code > 0 ? given.replaceAll("@", " ") : given;
    if (text === "" || (text === " " && this.#text === "")) return;
    // Texts of neighbours: `<b>Ada</b><i>Engineer</i>`, `Ada<small>Engineer</small>`, but not `ada<b>@</b>acme`.
    const isFirst = this.elements[element]?.from === this.length;
    const isNext =
      this.#isAfterElement && isFirst && /[\p{L}\p{N}\s]$/u.test(this.#text) && /^[\p{L}\p{N}+(]/u.test(text);
    const isOther = (this.#isAfterElement || isFirst) && /\p{Ll}$/u.test(this.#text) && /^\p{Lu}/u.test(text);
    if (text !== " ") this.#isAfterElement = false;
    if (isNext || isOther) this.#break();
    if (this.#text === "") this.#element = element;
    // The innermost element around both.
    let other = element;
    while (this.#element !== other) {
      if (this.#element > other) this.#element = this.elements[this.#element]?.parent ?? -1;
      else other = this.elements[other]?.parent ?? -1;
    }
    this.#text += text;
    this.length += text.length;
  }

  /** Ends a piece: finds the addresses in it, and keeps the texts around them. */
  #break(isBlock = false): void {
    const text = this.#text;
    this.#text = "";
    let end = 0;
    for (const { start, end: next, address: value } of plainAddresses(text)) {
      this.#keep(text.slice(end, start));
      const [element, at, line] = [this.#element, this.pieces.length, this.#line];
      this.#occur({ value, element, at, line, name: null, isAside: false });
      end = next;
    }
    this.#keep(text.slice(end));
    if (isBlock) this.#line += 1;
  }

  #keep(given: string): void {
    const text = given.trim();
    if (/[\p{L}\p{N}\p{So}]/u.test(text)) this.#push(this.#element, { text });
  }

  #push(element: number, piece: Partial<Piece>): void {
    const [index, line] = [this.pieces.length, this.#line];
    const empty = { text: "", phone: null, url: null, kind: null, isLabel: false };
    this.pieces.push({ ...empty, index, element, line, ...piece });
  }

  #occur(occurrence: Occurrence): void {
    this.occurrences.push(occurrence);
    if (occurrence.isAside) return;
    const { value } = occurrence;
    let around = this.elements[occurrence.element];
    while (around !== undefined && around.address !== value && around.address !== true) {
      around.address = around.address === null ? value : true;
      around = this.elements[around.parent];
    }
  }

  #readLink(tag: string, attributes: ReadonlyMap<string, string>, element: number): void {
    const at = this.pieces.length;
    const href = attributes.get("href") ?? attributes.get("action") ?? "";
    const recipients = /^\s*mailto:/i.test(href) ? recipientsOf(href) : [];
    for (const { address: value, name, isAside } of recipients)
      this.#occur({ value, element, at, line: this.#line, name, isAside });
    const [, phone] = /^\s*(?:tel|callto):\/{0,2}([^?;]+)/i.exec(href) ?? [];
    if (phone !== undefined) this.#push(element, { phone });
    if (href === "" || (tag !== "a" && tag !== "area") || this.#links.length === MAX_LINKS) return;
    const url = resolvedUrl(href, this.head.base);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return;
    this.#push(element, { url: url.href });
    if (/\bnofollow\b/i.test(attributes.get("rel") ?? "")) return;
    this.#links.push({ url, title: attributes.get("aria-label") ?? attributes.get("title") ?? "", element });
  }
}
