import { parse, type DefaultTreeAdapterTypes as Tree } from "parse5";
import { recipientsOf } from "./find-addresses.ts";
import { HiddenElements } from "./hidden-elements.ts";
import { attributeKind, type Kind } from "./labels.ts";
import { lowerBound } from "./lower-bound.ts";
import { attributesOf, contentOf, PageHead, resolvedUrl } from "./page-head.ts";
import { TableHeadings } from "./table-headings.ts";

/** An element with the part of the text that it contains. */
export interface PageElement {
  tag: string;
  /** Index of the element around it; -1 for the first. */
  parent: number;
  /** Index of its last descendant; its own without any. */
  last: number;
  start: number;
  end: number;
  /** What a label or heading says of its text, and the element that has it. */
  kind: Kind | null;
  kindOwner: number;
  /** 2 within a heading, 1 within emphasised text. */
  rank: number;
  /** Within a link to a page, or a button. */
  isLink: boolean;
  /** Within microdata or a microformat. */
  isItem: boolean;
}

/** A value of an attribute. */
export interface Linked {
  value: string;
  element: number;
  at: number;
}

export interface LinkedAddress extends Linked {
  name: string | null;
  isAside: boolean;
}

export type PageLink = { url: URL; text: string };

/** Separates elements of one line. */
export const SEPARATOR = "\u2028";
/** Separates columns of one line that blanks set apart. */
export const GAP = "\u2029";

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
const HEADINGS = new Set("h1 h2 h3 h4 h5 h6".split(" "));
const INVISIBLE = /[\u00AD\u200B-\u200F\u2060\uFEFF]+/g;
const NEXT = { behind: /[\p{L}\p{N}\s]/u, before: /^[\p{L}\p{N}+(]/u };

/** The text of a page with breaks between its blocks, and the elements, links and declarations in it. */
export class PageText {
  readonly elements: PageElement[] = [];
  readonly addresses: LinkedAddress[] = [];
  readonly phones: Linked[] = [];
  readonly profiles: Linked[] = [];
  readonly head: PageHead;
  language = "";
  text = "";

  readonly #parts: string[] = [];
  readonly #links: { url: URL; title: string; element: number }[] = [];
  /** Offsets at which the text begins to be that of an element, and the index of the element. */
  readonly #offsets: number[] = [];
  readonly #owners: number[] = [];
  readonly #tables: TableHeadings[] = [];
  readonly #kinds = new Map<string, Kind | null>();
  readonly #hiding = new HiddenElements();
  #length = 0;
  #cursor = 0;
  /** The last character; a break at the start. */
  #previous = "\n";
  #code = 0;
  #pre = 0;
  /** Whether an element has ended since the last text. */
  #isAfterElement = false;

  constructor(html: string, url: URL) {
    this.head = new PageHead(url);
    this.#walk(parse(html, { scriptingEnabled: false }));
    this.text = this.#parts.join("");
  }

  get links(): PageLink[] {
    return this.#links.map(({ url, title, element }) => {
      const { start = 0, end = 0 } = this.elements[element] ?? {};
      return { url, text: this.text.slice(start, Math.min(end, start + 200)).trim() || title };
    });
  }

  /** Index of the innermost element that contains a part of the text. */
  elementAt(start: number, end: number): number {
    const isBehind = (at: number) => (this.#offsets[at] ?? Number.POSITIVE_INFINITY) > start;
    while (!isBehind(this.#cursor) && !isBehind(this.#cursor + 1)) this.#cursor += 1;
    if (isBehind(this.#cursor)) this.#cursor = lowerBound(this.#offsets.length, isBehind) - 1;
    let index = this.#owners[this.#cursor] ?? 0;
    while (index > 0 && (this.elements[index]?.end ?? 0) < end) index = this.elements[index]?.parent ?? 0;
    return index;
  }

  /** Leaves out elements that are nested more deeply than browsers nest them. */
  #walk(document: Tree.Document): void {
    const open: { element: number; node: Tree.Element | Tree.Document; child: number; part: number }[] = [
      { element: -1, node: document, child: 0, part: 0 },
    ];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const node = top.node.childNodes[top.child++];
      if (node === undefined) {
        open.pop();
        if ("tagName" in top.node) this.#leave(top.element, top.node.tagName, top.part);
      } else if ("tagName" in node) {
        const part = this.#parts.length;
        if (open.length <= MAX_DEPTH && this.#enter(node, top.element))
          open.push({ element: this.elements.length - 1, node, child: 0, part });
      } else if ("value" in node) {
        this.#write(node.value, top.element);
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
      this.#break(SEPARATOR);
      return false;
    }
    if (SKIPPED.has(tag)) return false;
    const kind = this.#kindOf(attributes, this.elements[parent]?.isItem === true);
    if (BLOCKS.has(tag)) this.#break("\n");
    else if (tag === "a" || kind !== null) this.#break(SEPARATOR);
    if (CODE.has(tag)) this.#code += 1;
    if (tag === "pre") this.#pre += 1;
    if (tag === "table") this.#tables.push(new TableHeadings());
    if (tag === "tr") this.#tables.at(-1)?.beginRow();
    const index = this.#add(tag, parent, attributes, kind);
    if (attributes.size > 0) this.#readAttributes(tag, attributes, index);
    if (tag === "meta" && kind !== null) this.#append(attributes.get("content") ?? "", index);
    return true;
  }

  /** Cached: pages repeat few class names. */
  #kindOf(attributes: ReadonlyMap<string, string>, isInItem: boolean): Kind | null {
    const [names, item] = [attributes.get("class"), attributes.get("itemprop") ?? attributes.get("property")];
    if (names === undefined && item === undefined) return null;
    const key = `${names} ${item} ${isInItem}`;
    let kind = this.#kinds.get(key);
    if (kind === undefined) {
      kind = attributeKind(names ?? "", item ?? "", isInItem);
      this.#kinds.set(key, kind);
    }
    return kind;
  }

  #declare(node: Tree.Element): void {
    const { tagName: tag } = node;
    if (tag === "style") this.#hiding.readStyle(contentOf(node));
    else if (DECLARING.has(tag)) this.head.declare(tag, attributesOf(node), contentOf(node));
  }

  #add(tag: string, parent: number, attributes: ReadonlyMap<string, string>, own: Kind | null): number {
    const [index, at] = [this.elements.length, this.#length];
    const around = this.elements[parent];
    const cell =
      tag === "td" || tag === "th"
        ? this.#tables
            .at(-1)
            ?.beginCell(Number(attributes.get("colspan")), Number(attributes.get("rowspan")), tag === "th")
        : null;
    const kind = own ?? cell ?? null;
    const rank = HEADINGS.has(tag) ? 2 : EMPHASIS.has(tag) ? 1 : 0;
    this.elements.push({
      tag,
      parent,
      last: index,
      start: at,
      end: at,
      kind: kind ?? around?.kind ?? null,
      kindOwner: kind === null ? (around?.kindOwner ?? -1) : index,
      rank: Math.max(rank, around?.rank ?? 0),
      isLink: around?.isLink === true || tag === "button" || (tag === "a" && attributes.has("href")),
      isItem:
        attributes.has("itemscope") ||
        attributes.has("typeof") ||
        /(?:^|\s)(?:vcard|h-card)(?:\s|$)/.test(attributes.get("class") ?? ""),
    });
    return index;
  }

  #leave(index: number, tag: string, part: number): void {
    const element = this.elements[index];
    if (element === undefined) return;
    if (CODE.has(tag)) this.#code -= 1;
    if (tag === "pre") this.#pre -= 1;
    element.end = this.#length;
    element.last = this.elements.length - 1;
    const table = this.#tables.at(-1);
    if (tag === "td" || tag === "th") table?.endCell(this.#parts.slice(part).join("").slice(0, 200));
    if (tag === "tr") table?.endRow();
    if (tag === "table") this.#tables.pop();
    if (BLOCKS.has(tag)) this.#break("\n");
    else if (tag === "a" || element.kindOwner === index) this.#break(SEPARATOR);
    this.#isAfterElement = true;
  }

  #write(value: string, element: number): void {
    const blank = (run: string) => (run.includes("\n") || !run.includes("\t") ? " " : "\t");
    let text = value.replace(INVISIBLE, "");
    if (this.#pre === 0) text = text.replace(/[ \t\n\f\r]+/g, blank);
    text = text.replace(/[^\S\n]{2,}|[\t\u2000-\u2003]/g, GAP).replace(/[^\S\n\u2029]/g, " ");
    // Texts of neighbours: `<b>Ada</b><i>Engineer</i>`, `Ada<small>Engineer</small>`, but not `ada<b>@</b>acme`.
    const isFirst = this.elements[element]?.start === this.#length;
    const isNext =
      this.#isAfterElement && isFirst && NEXT.behind.test(this.#previous) && NEXT.before.test(text);
    const isOther =
      (this.#isAfterElement || isFirst) && /\p{Ll}/u.test(this.#previous) && /^\p{Lu}/u.test(text);
    if (text !== " ") this.#isAfterElement = false;
    if (isNext || isOther) this.#break(SEPARATOR);
    if (/\s/.test(this.#previous)) text = text.replace(this.#previous === "\n" ? /^\s+/ : /^ /, "");
    if (this.#code > 0) text = text.replaceAll("@", " ");
    this.#append(text, element);
  }

  #append(text: string, element: number): void {
    if (text === "") return;
    if (this.#owners.at(-1) !== element) {
      this.#offsets.push(this.#length);
      this.#owners.push(element);
    }
    this.#parts.push(text);
    this.#length += text.length;
    this.#previous = text.at(-1) ?? "";
  }

  #break(separator: string): void {
    if (this.#previous === "\n" || this.#previous === separator) return;
    this.#append(separator, this.#owners.at(-1) ?? 0);
  }

  #readAttributes(tag: string, attributes: ReadonlyMap<string, string>, element: number): void {
    const at = this.#length;
    const href = attributes.get("href") ?? attributes.get("action") ?? "";
    const recipients = /^\s*mailto:/i.test(href) ? recipientsOf(href) : [];
    for (const { address: value, name, isAside } of recipients)
      this.addresses.push({ value, name, isAside, element, at });
    const [, phone] = /^\s*(?:tel|callto):\/{0,2}([^?;]+)/i.exec(href) ?? [];
    if (phone !== undefined) this.phones.push({ value: phone, element, at });
    if (href === "" || (tag !== "a" && tag !== "area") || this.profiles.length === MAX_LINKS) return;
    const url = resolvedUrl(href, this.head.base);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return;
    this.profiles.push({ value: url.href, element, at });
    if (/\bnofollow\b/i.test(attributes.get("rel") ?? "")) return;
    this.#links.push({ url, title: attributes.get("aria-label") ?? attributes.get("title") ?? "", element });
  }
}
