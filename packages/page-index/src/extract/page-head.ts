import { parsedUrl } from "@outrigger/core/values";
import type { DefaultTreeAdapterTypes as Tree } from "parse5";
import { ROBOT } from "./robots-tag.ts";

/** As sitemaps.org: longer ones are of no page, and each link would repeat a long base. */
const MAX_URL_LENGTH = 2_048;

/** What a page declares of itself. */
export class PageHead {
  /** URL by which its links are resolved. */
  base: URL;
  /** `rel=canonical`; `null` without one. */
  canonical: URL | null = null;
  /** Values of `<meta>` by name, in lower case: the first, and of robots all, joined by commas. */
  readonly meta = new Map<string, string>();
  /** Texts of JSON-LD. */
  readonly data: string[] = [];
  /** Number of its scripts. */
  scripts = 0;
  #hasBase = false;

  constructor(url: URL) {
    this.base = url;
  }

  /** Reads an element `meta`, `link`, `base` or `script`. */
  declare(tag: string, attributes: ReadonlyMap<string, string>, content: string): void {
    const isData = /^\s*application\/ld\+json/i.test(attributes.get("type") ?? "");
    if (tag === "script" && isData) this.data.push(content);
    else if (tag === "script") this.scripts += 1;
    const name = (attributes.get("name") ?? attributes.get("property"))?.toLowerCase().trim();
    if (tag === "meta" && name !== undefined) {
      const known = this.meta.get(name);
      const value = attributes.get("content") ?? "";
      if (known === undefined) this.meta.set(name, value);
      else if (name === "robots" || name === ROBOT) this.meta.set(name, `${known},${value}`);
    }
    const href = attributes.get("href");
    const url = href === undefined ? null : resolvedUrl(href, this.base);
    if (url === null) return;
    if (tag === "link" && /(?:^|\s)canonical(?:\s|$)/i.test(attributes.get("rel") ?? ""))
      this.canonical ??= url;
    if (tag !== "base" || this.#hasBase) return;
    this.base = url;
    this.#hasBase = true;
  }
}

/** `null` for a text that is no URL, or one over 2,048 characters. */
export function resolvedUrl(href: string, base?: string | URL): URL | null {
  return href.length > MAX_URL_LENGTH ? null : parsedUrl(href, base);
}

export function attributesOf({ attrs }: Tree.Element): ReadonlyMap<string, string> {
  return new Map(attrs.map(({ name, value }) => [name, value]));
}

/** Its own text, without that of elements in it. */
export function contentOf(node: Tree.Element): string {
  return node.childNodes.map((child) => ("value" in child ? child.value : "")).join("");
}
