import { parse, type DefaultTreeAdapterTypes as Tree } from "parse5";
import { recipientsOf } from "./find-addresses.ts";

/** An element with the part of the text that it contains. */
export interface PageElement {
  tag: string;
  /** Index of the element around it; -1 for the first. */
  parent: number;
  /** Index of its last descendant; its own without any. */
  last: number;
  start: number;
  end: number;
}

/** An address that an attribute contains. */
export interface LinkedAddress {
  address: string;
  name: string | null;
  element: number;
  at: number;
  isAside: boolean;
}

export interface PageLink {
  url: URL;
  text: string;
}

/** Separates elements of one line that are texts of their own. */
export const SEPARATOR = "\u2028";

const BLOCKS = new Set(
  (
    "address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table tbody td tfoot " +
    "th thead tr ul"
  ).split(" "),
);
/** Their text is no text of the page. */
const SKIPPED = new Set(
  "head script style template textarea select svg math iframe object canvas audio video map datalist".split(
    " ",
  ),
);
/** An address in them is an example or a command. */
const CODE = new Set("code pre kbd samp tt var".split(" "));
const INVISIBLE = /[\u00AD\u200B-\u200F\u2060\uFEFF]+/g;
const HIDDEN_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?:px|em|rem|%)?\s*(?:;|!|$)|opacity\s*:\s*0?\.?0+\s*(?:;|!|$)|(?:left|top|text-indent)\s*:\s*-\d{4,})/i;

/** The text of a page with breaks between its blocks, and the elements, links and declarations in it. */
export class PageText {
  readonly elements: PageElement[] = [];
  readonly linked: LinkedAddress[] = [];
  readonly links: PageLink[] = [];
  /** Texts of JSON-LD. */
  readonly data: string[] = [];
  /** Values of `<meta>` by name, in lower case; of a name that occurs twice, joined by commas. */
  readonly meta = new Map<string, string>();
  canonical: URL | null = null;
  scripts = 0;

  readonly #parts: string[] = [];
  /** Offsets at which text begins to be that of an element, and the index of the element. */
  readonly #offsets: number[] = [];
  readonly #owners: number[] = [];
  #length = 0;
  /** The last character; a break at the start. */
  #previous = "\n";
  #base: URL;
  #hasBase = false;
  #code = 0;
  #text: string | null = null;

  constructor(html: string, url: URL) {
    this.#base = url;
    this.#walk(parse(html, { scriptingEnabled: false }));
  }

  get text(): string {
    this.#text ??= this.#parts.join("");
    return this.#text;
  }

  /** Index of the innermost element that contains a part of the text. */
  elementAt(start: number, end: number): number {
    let [low, high] = [0, this.#offsets.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#offsets[middle] ?? 0) <= start) low = middle + 1;
      else high = middle;
    }
    let index = this.#owners[low - 1] ?? 0;
    while (index > 0 && (this.elements[index]?.end ?? 0) < end) index = this.elements[index]?.parent ?? 0;
    return index;
  }

  /** Iterates, because a page may nest 400,000 elements. */
  #walk(document: Tree.Document): void {
    const open: { element: number; node: Tree.Element | Tree.Document; child: number }[] = [
      { element: -1, node: document, child: 0 },
    ];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const node = top.node.childNodes[top.child++];
      if (node === undefined) {
        open.pop();
        if ("tagName" in top.node) this.#leave(top.element, top.node);
      } else if ("tagName" in node) {
        if (this.#enter(node, top.element)) open.push({ element: this.elements.length - 1, node, child: 0 });
      } else if ("value" in node) {
        this.#write(node.value, top.element);
      }
    }
  }

  /** @returns Whether its content is read. */
  #enter(node: Tree.Element, parent: number): boolean {
    const { tagName: tag } = node;
    const attributes = new Map(node.attrs.map(({ name, value }) => [name, value]));
    if (tag === "script") this.#readScript(node, attributes);
    if (tag === "head") for (const child of node.childNodes) if ("tagName" in child) this.#declare(child);
    if (tag === "meta" || tag === "link" || tag === "base") this.#declare(node);
    if (SKIPPED.has(tag) || isHidden(attributes)) return false;
    if (BLOCKS.has(tag)) this.#break("\n");
    else if (tag === "a" || tag === "img") this.#break(SEPARATOR);
    if (CODE.has(tag)) this.#code += 1;
    const at = this.#length;
    this.elements.push({ tag, parent, last: 0, start: at, end: at });
    const href = attributes.get("href");
    if (href !== undefined && (tag === "a" || tag === "area")) this.#link(href, attributes);
    return true;
  }

  #leave(index: number, node: Tree.Element): void {
    const element = this.elements[index];
    if (element === undefined) return;
    const { tagName: tag } = node;
    if (CODE.has(tag)) this.#code -= 1;
    element.end = this.#length;
    element.last = this.elements.length - 1;
    if (BLOCKS.has(tag)) this.#break("\n");
    else if (tag === "a") this.#break(SEPARATOR);
  }

  #write(value: string, element: number): void {
    let text = value.replace(INVISIBLE, "").replace(/\s+/g, " ");
    if (/\s/.test(this.#previous)) text = text.trimStart();
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

  #link(href: string, attributes: ReadonlyMap<string, string>): void {
    const element = this.elements.length - 1;
    for (const recipient of recipientsOf(href)) this.linked.push({ ...recipient, element, at: this.#length });
    const url = URL.canParse(href, this.#base.href) ? new URL(href, this.#base) : null;
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return;
    if (/\bnofollow\b/i.test(attributes.get("rel") ?? "")) return;
    this.links.push({ url, text: attributes.get("aria-label") ?? attributes.get("title") ?? "" });
  }

  #readScript(node: Tree.Element, attributes: ReadonlyMap<string, string>): void {
    const isData = /^\s*application\/ld\+json/i.test(attributes.get("type") ?? "");
    if (!isData) this.scripts += 1;
    else this.data.push(node.childNodes.map((child) => ("value" in child ? child.value : "")).join(""));
  }

  /** Reads `<meta>`, `<link rel=canonical>` and `<base>`. */
  #declare(node: Tree.Element): void {
    const attributes = new Map(node.attrs.map(({ name, value }) => [name, value]));
    const [href, content] = [attributes.get("href"), attributes.get("content")];
    const name = (attributes.get("name") ?? attributes.get("property"))?.toLowerCase().trim();
    if (node.tagName === "script") this.#readScript(node, attributes);
    if (node.tagName === "meta" && name !== undefined && content !== undefined)
      this.meta.set(name, [this.meta.get(name), content].filter((value) => value !== undefined).join(","));
    if (href === undefined || !URL.canParse(href, this.#base.href)) return;
    if (node.tagName === "base" && !this.#hasBase) {
      this.#base = new URL(href, this.#base);
      this.#hasBase = true;
    }
    if (node.tagName === "link" && /(?:^|\s)canonical(?:\s|$)/i.test(attributes.get("rel") ?? ""))
      this.canonical ??= new URL(href, this.#base);
  }
}

function isHidden(attributes: ReadonlyMap<string, string>): boolean {
  const hidden = attributes.get("hidden");
  return (
    (hidden !== undefined && hidden.toLowerCase() !== "until-found") ||
    attributes.get("aria-hidden")?.toLowerCase() === "true" ||
    HIDDEN_STYLE.test(attributes.get("style") ?? "")
  );
}
